/* Starts a deck. Beyond the keys of reveal.js: D for dark or light, Escape to come out of a live figure, Alt and a click
   to look at something closely. */
(() => {
  const SMALLEST = 18; // px of text that must fit, to be read from the last row
  const WIDTHS = [660, 720, 800, 900, 1000]; // px of a figure, from which it looks as in the page
  const LARGEST = 1.4; // times a figure may be its natural size

  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const shade = () => { root.dataset.theme = dark.matches ? "dark" : "light"; };
  shade();
  dark.addEventListener("change", shade);

  /* The speaker's window has no style sheet for formulas, but every browser can draw MathML. */
  async function notesAsMathML() {
    for (const formula of document.querySelectorAll("aside.notes .math")) {
      const tex = formula.textContent.trim().slice(2, -2);
      formula.innerHTML = await MathJax.tex2mmlPromise(tex, { display: formula.tagName === "DIV" });
    }
  }

  MathJax.chtml = { matchFontHeight: false }; // slides that are not shown have no height to match
  MathJax.options.ignoreHtmlClass = "notes";
  const typeset = new Promise((done) => {
    MathJax.startup = {
      pageReady: async () => {
        try {
          await MathJax.startup.defaultPageReady();
          await notesAsMathML();
        } finally {
          done();
        }
      },
    };
  });

  // --- what has to fit ------------------------------------------------------------------------------

  function smaller(element) {
    const size = parseFloat(getComputedStyle(element).fontSize) - 1;
    if (size < SMALLEST) return false;
    element.style.fontSize = `${size}px`;
    return true;
  }

  /* Long lines of code, and tables of many rows, become smaller as far as they can be read. */
  function fitText(slide) {
    for (const code of slide.querySelectorAll(".highlight pre")) while (code.scrollWidth > code.clientWidth && smaller(code));
    for (const table of slide.querySelectorAll("table:not(.figure *)")) {
      while ((slide.scrollHeight > slide.clientHeight || table.offsetWidth > slide.clientWidth) && smaller(table));
    }
  }

  const started = (box) => new Promise((done) => {
    const look = () => { if (box.querySelector("[data-live], .admonition")) done(); };
    new MutationObserver(look).observe(box, { subtree: true, childList: true, attributeFilter: ["data-live"] });
    look();
  });
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

  /* Figures look at their size, draw, and some look again: wait until nothing moves any more. */
  async function still(figure) {
    for (let before = -1; before !== figure.scrollHeight; ) {
      before = figure.scrollHeight;
      await drawn();
      await drawn();
    }
  }

  /* A figure gets the width at which it can stand largest in the room that its slide leaves. */
  async function fit(box) {
    await started(box);
    const figure = box.querySelector("[data-live]");
    if (!figure) return; // it has said why
    let best = { scale: 0 };
    for (const width of [...WIDTHS, box.clientWidth]) {
      figure.style.width = `${width}px`;
      await still(figure);
      const tight = [...figure.querySelectorAll("td, th")].some((cell) => cell.scrollWidth > cell.clientWidth + 1);
      const scale = Math.min(LARGEST, box.clientWidth / width, box.clientHeight / figure.scrollHeight);
      if (scale > best.scale && !tight) best = { width, scale };
    }
    figure.style.width = `${best.width}px`;
    await still(figure);
    best.scale = Math.min(best.scale, box.clientHeight / figure.scrollHeight);
    figure.style.transform = `translateX(-50%) scale(${best.scale})`;
    box.dataset.scale = best.scale;
  }

  async function settle(slide) {
    if ("settled" in slide.dataset) return;
    await typeset;
    fitText(slide);
    await Promise.all([...slide.querySelectorAll(".figure")].map(fit));
    slide.dataset.settled = "";
  }

  // --- the deck -------------------------------------------------------------------------------------

  const figureOf = (event) => event.target.closest?.(".figure");

  document.addEventListener("DOMContentLoaded", async () => {
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
    deck.on("slidechanged", ({ currentSlide }) => {
      document.activeElement?.blur();
      settle(currentSlide);
    });
    await deck.initialize();
    settle(deck.getCurrentSlide());
    deck.addKeyBinding({ keyCode: 68, key: "D", description: "Dark or light" }, () => {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && figureOf(event)) event.target.blur();
    });
  });
})();
