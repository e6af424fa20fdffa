// A picture keeps letters that can be read. On a narrow page its panels stand below each other, and what is still too
// wide is moved under a finger or by the arrow keys. website/pictures.py puts the pictures into the page.

const SMALLEST = 11; // px of a letter
const PIXELS = 4 / 3; // of a unit, at full size
const GAP = 8; // units between panels

// Where the panels of one row go if they stand below each other; null where there is nothing to move.
function column(svg) {
    const panels = [...svg.querySelectorAll(':scope > g > g[id*="-axes_"]')]
        .map((group) => ({ group, box: group.getBBox() }))
        .sort((a, b) => a.box.x - b.box.x);
    const row = panels.slice(1).every(({ box }, n) => box.x >= panels[n].box.x + panels[n].box.width - GAP);
    if (panels.length < 2 || !row) return null;
    let height = 0;
    for (const panel of panels) {
        panel.move = `translate(${1 - panel.box.x} ${height - panel.box.y})`;
        height += panel.box.height + GAP;
    }
    return { panels, width: Math.max(...panels.map(({ box }) => box.width)) + 2, height };
}

function lay(svg, whole) {
    const room = svg.parentElement.clientWidth;
    if (!room) return; // folded away
    for (const group of svg.querySelectorAll(":scope > g > g[transform]")) group.removeAttribute("transform");
    const chosen = (room < 0.8 * whole.width * PIXELS && column(svg)) || whole;
    for (const { group, move } of chosen.panels ?? []) group.setAttribute("transform", move);
    svg.setAttribute("viewBox", `0 0 ${chosen.width} ${chosen.height}`);
    svg.setAttribute("width", chosen.width * PIXELS);
    svg.setAttribute("height", chosen.height * PIXELS);
    const sizes = [...svg.querySelectorAll("text")].map((text) => Number.parseFloat(getComputedStyle(text).fontSize));
    svg.style.minWidth = sizes.length ? `${(chosen.width * SMALLEST) / Math.min(...sizes)}px` : "";
}

for (const svg of document.querySelectorAll("svg.picture")) {
    const { width, height } = svg.viewBox.baseVal;
    new ResizeObserver(() => lay(svg, { width, height })).observe(svg.parentElement);
}
