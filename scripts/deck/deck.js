/* Starts a deck. Beyond the keys of reveal.js: D for dark or light, Escape to come out of a live figure, Alt and a click
   to look at something closely. */
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

  /* A figure gets the width at which it can stand largest in the room that its slide leaves. */
  async function fit(box) {
    const figure = box.querySelector("[data-live]");
    if (!figure) return;
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    let best = { scale: 0 };
    for (const width of [660, 720, 800, 900, 1000, box.clientWidth]) {
      figure.style.width = `${width}px`;
      await drawn(); // figures look at their size before they draw
      const frame = figure.firstElementChild ?? figure;
      if (frame.scrollWidth > frame.clientWidth) continue; // something is pressed out of it
      const scale = Math.min(1.4, box.clientWidth / width, box.clientHeight / figure.scrollHeight);
      if (scale > best.scale) best = { width, scale };
    }
    figure.style.width = `${best.width}px`;
    figure.style.transform = `translateX(-50%) scale(${best.scale})`;
    box.dataset.fits = best.scale;
  }

  const SMALLEST = 18; // px, to be read from the last row
  const smaller = (element) => {
    const size = parseFloat(getComputedStyle(element).fontSize) - 1;
    if (size < SMALLEST) return false;
    element.style.fontSize = `${size}px`;
    return true;
  };

  /* Long lines of code, and tables of many rows, become smaller as far as they can be read. */
  function fitText(slide) {
    for (const code of slide.querySelectorAll(".highlight pre")) while (code.scrollWidth > code.clientWidth && smaller(code));
    for (const table of slide.querySelectorAll("table:not(.figure *)")) {
      while ((slide.scrollHeight > slide.clientHeight || table.offsetWidth > slide.clientWidth) && smaller(table));
    }
  }

  function settle(slide) {
    fitText(slide);
    for (const box of slide.querySelectorAll(".figure:not([data-fits])")) {
      new MutationObserver((_, observer) => {
        if (!box.querySelector("[data-live]")) return;
        observer.disconnect();
        fit(box);
      }).observe(box, { subtree: true, attributes: true, attributeFilter: ["data-live"] });
      fit(box);
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
      plugins: [RevealNotes, RevealZoom],
      // What is pressed in a figure is meant for the figure.
      keyboardCondition: (event) => !figureOf(event),
    });
    window.Reveal = deck; // by this name the speaker's view and the console know it
    deck.addKeyBinding({ keyCode: 68, key: "D", description: "Dark or light" }, () => {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    });
    deck.on("slidechanged", ({ currentSlide }) => {
      document.activeElement?.blur();
      settle(currentSlide);
    });
    deck.on("ready", ({ currentSlide }) => settle(currentSlide));
    deck.initialize();
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && figureOf(event)) event.target.blur();
    });
  });
})();
