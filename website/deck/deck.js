/* Starts a deck. Beyond the keys of reveal.js: D for dark or light, Escape to come out of a live figure, Alt and a click
   to look at something closely. */
(() => {
  const SMALLEST = 18; // px of text that must fit, to be read from the last row
  const IN_FIGURES = 19; // px of a figure's text, before a verdict on a bet makes it a little higher than …
  const VERDICT = 45; // … the px that are kept for it, where it will stand above the figure
  const WIDTHS = [660, 720, 850, 950, 1050, 1150]; // px of a figure, from which it looks as in the page
  const LARGEST = 1.5; // times a figure may be its natural size
  const ROOMY = 1.35; // times its natural size, from which a figure needs no other layout
  const TEXT = [1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1, 0.93, 0.86]; // times text may be its size, …
  const WITH_CODE = 1.5; // … with code or a table, …
  const BESIDE = 1.2; // … and beside a picture

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
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (size <= SMALLEST) return false;
    element.style.fontSize = `${Math.max(size - 1, SMALLEST)}px`;
    return true;
  }

  /* Where little is said, it is said in large letters. Long lines of code, wide formulas and tables of many rows become
     smaller as far as they can be read. */
  function fitText(slide) {
    const lines = [...slide.querySelectorAll(".highlight pre, div.math")];
    const tables = [...slide.querySelectorAll("table:not(.figure *)")];
    const { paddingLeft, paddingRight } = getComputedStyle(slide);
    const room = slide.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const full = () => slide.scrollHeight > slide.clientHeight || slide.scrollWidth > slide.clientWidth;
    const still = slide.matches(".first") || slide.querySelector(".figure")
      || !slide.matches(".beside") && slide.querySelector("img, svg.picture");
    const most = still ? 1 : slide.matches(".beside") ? BESIDE : slide.querySelector("pre, table") ? WITH_CODE : TEXT[0];
    for (const larger of TEXT.filter((size) => size <= most)) {
      slide.style.setProperty("--larger", larger);
      for (const box of [...lines, ...tables]) box.style.fontSize = "";
      for (const box of lines) while (box.scrollWidth > box.clientWidth && smaller(box));
      for (const table of tables) {
        while ((table.offsetWidth > room || larger <= 1 && full()) && smaller(table));
      }
      if (!full()) return;
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

  /* No letter of a figure is smaller than --least. */
  function floorLetters(rules) {
    for (const rule of rules) {
      const size = rule.style?.fontSize;
      if (size && !/inherit|max/.test(size)) rule.style.fontSize = `max(${size}, var(--least, 0px))`;
      if (rule.cssRules) floorLetters(rule.cssRules);
    }
  }

  function setLeast(figure, scale) {
    const least = IN_FIGURES / Math.max(scale, 1);
    figure.style.setProperty("--least", `${least}px`);
    const shown = figure.getBoundingClientRect().width / figure.offsetWidth;
    for (const drawing of figure.querySelectorAll("svg")) {
      const width = drawing.viewBox.baseVal?.width || drawing.width.baseVal.value;
      const shrunk = drawing.getBoundingClientRect().width / width / shown;
      if (shrunk) drawing.style.setProperty("--least", `${least / shrunk}px`);
    }
  }

  const cutOff = (box) => box.clientWidth && box.scrollWidth > box.clientWidth + 1
    && (box.matches("td, th") || getComputedStyle(box).overflowX !== "visible") && !box.matches(".attn-spoken, input, select, caption");

  /* A figure gets the width at which it can stand largest in the room that its slide leaves. */
  async function fit(box) {
    await started(box);
    const figure = box.querySelector("[data-live]");
    if (!figure) return; // it has said why
    for (const sheet of document.styleSheets) if (sheet.ownerNode.tagName === "STYLE") floorLetters(sheet.cssRules);
    const asks = figure.querySelector(".attn-question:not([hidden])");
    const scaleAt = async (width, scale) => {
      const spare = asks && !figure.matches(".aside") ? VERDICT : 0;
      figure.style.width = `${width}px`;
      for (let round = 0; round < 3; round++) {
        setLeast(figure, scale);
        await still(figure);
        scale = Math.min(LARGEST, box.clientWidth / width, box.clientHeight / (figure.scrollHeight + spare));
      }
      return scale;
    };
    let best = { scale: 0, tight: true };
    for (const aside of [false, true]) { // its question above it, or beside it
      figure.classList.toggle("aside", aside);
      for (const width of [...WIDTHS, box.clientWidth]) {
        const scale = await scaleAt(width, best.scale || 1.3);
        const tight = [...figure.querySelectorAll("*")].some(cutOff);
        if (best.tight && !tight || scale > best.scale && (best.tight || !tight)) best = { width, scale, aside, tight };
      }
      if (best.scale >= ROOMY && !best.tight || !asks) break;
    }
    figure.classList.toggle("aside", best.aside);
    best.scale = await scaleAt(best.width, best.scale);
    new ResizeObserver(() => { // a verdict makes it higher
      const scale = Math.min(best.scale, box.clientHeight / figure.scrollHeight);
      figure.style.transform = `translateX(-50%) scale(${scale})`;
      box.dataset.scale = scale;
    }).observe(figure);
    await still(figure);
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
