/* Starts a deck. Keys beyond those of reveal.js: D for dark or light, Escape to come out of a live figure. */
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const shade = () => { root.dataset.theme = dark.matches ? "dark" : "light"; };
  shade();
  dark.addEventListener("change", shade);

  const figureOf = (event) => event.target.closest?.(".figure");

  /* A speaker's window has no style sheet for formulas, but every browser can draw MathML. */
  async function notesAsMathML() {
    for (const formula of document.querySelectorAll("aside.notes .math")) {
      const tex = formula.textContent.trim().slice(2, -2);
      formula.innerHTML = await MathJax.tex2mmlPromise(tex, { display: formula.tagName === "DIV" });
    }
  }

  MathJax.chtml = { matchFontHeight: false }; // slides that are not shown have no height to match
  MathJax.options.ignoreHtmlClass = "notes";
  MathJax.startup = {
    pageReady: async () => {
      await MathJax.startup.defaultPageReady();
      await notesAsMathML();
    },
  };

  document.addEventListener("DOMContentLoaded", () => {
    const deck = new Reveal(document.querySelector(".reveal"), {
      width: 1280,
      height: 720,
      margin: 0,
      center: false,
      display: "flex",
      hash: true,
      slideNumber: "c/t",
      transition: "none",
      plugins: [RevealNotes],
      // What is pressed in a figure is meant for the figure.
      keyboardCondition: (event) => !figureOf(event),
    });
    window.Reveal = deck; // its own name for the one deck of a page
    deck.initialize();
    deck.addKeyBinding({ keyCode: 68, key: "D", description: "Dark or light" }, () => {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    });
    deck.on("slidechanged", () => document.activeElement?.blur());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && figureOf(event)) event.target.blur();
    });
  });
})();
