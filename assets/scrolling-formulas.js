// The theme lets a formula that is wider than its column scroll. A keyboard scrolls only what has the focus, so a formula
// that scrolls can have it.

const watched = new ResizeObserver((entries) => {
    for (const { target } of entries) {
        const formula = target.closest("mjx-container");
        const scrolls = formula.scrollWidth > formula.clientWidth || formula.scrollHeight > formula.clientHeight;
        if (scrolls) formula.tabIndex = 0;
        else formula.removeAttribute("tabindex");
    }
});

addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    for (const part of document.querySelectorAll("div.math mjx-container, div.math mjx-math")) watched.observe(part);
});
