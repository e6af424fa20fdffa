// What is wider than its column scrolls, and a keyboard scrolls only what has the focus. The theme lets code, outputs and
// tables have it while they scroll, but looks once, 300 ms after the window has changed: its own column may still be
// moving then. Formulas it forgets. So here they are watched.

const PARTS = "pre, :has(> svg.picture), .nboutput > .output_area, .cell_output > .output, .jp-RenderedHTMLCommon, "
    + ".pst-scrollable-table-container, div.math mjx-container";

const watched = new ResizeObserver((entries) => {
    for (const part of new Set(entries.map(({ target }) => target.closest(PARTS)))) {
        const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
        part.tabIndex = scrolls ? 0 : -1;
    }
});

addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    // The letters of a formula come late and widen its inside alone.
    for (const part of document.querySelectorAll(`${PARTS}, div.math mjx-math`)) watched.observe(part);
});
