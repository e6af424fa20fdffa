import { html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";

// A text letter by letter, in lines that wrap where there is no room, and over each letter a bar.

/** @param {object} of pick: (place: number) => void, a letter was clicked; what the keyboard has for that, the figure
 *   says with a slider
 * @returns {{element: HTMLElement, draw: Function}} */
export function letterBars({ pick }) {
  const element = html("div", { class: "lm-letters", role: "img" });
  const cells = [];
  element.addEventListener("click", (event) => {
    const place = cells.findIndex(({ cell }) => cell.contains(event.target));
    if (place >= 0) pick(place);
  });

  function cellOf() {
    const bar = html("span", { class: "lm-bar" }), letter = html("bdi", { class: "lm-letter" });
    const cell = html("span", { class: "lm-cell" }, html("span", { class: "lm-track" }, bar), letter);
    return { cell, bar, letter };
  }

  /** @param {object} figure tokens: string[]; heights: (number | null)[] of the bars in 0..1, null for no bar;
   *   kinds: string[] classes of each cell, or ""; label: what is seen, in words */
  function draw({ tokens, heights, kinds, label }) {
    while (cells.length < tokens.length) {
      cells.push(cellOf());
      element.append(cells.at(-1).cell);
    }
    cells.forEach(({ cell, bar, letter }, n) => {
      cell.hidden = n >= tokens.length;
      if (cell.hidden) return;
      setText(letter, visible(tokens[n]));
      bar.style.height = `${Math.round(1000 * (heights[n] ?? 0)) / 10}%`;
      set(cell, { class: `lm-cell ${heights[n] === null ? "lm-none" : ""} ${kinds[n]}` });
    });
    set(element, { "aria-label": label });
  }
  return { element, draw };
}

/** What of a text could not be read, in words; "" if nothing.
 * @param {{strange: string[], cut: number, tokens: string[]}} found of `readable` */
export function leftOut({ strange, cut, tokens }) {
  const said = [];
  if (strange.length) {
    const list = strange.slice(0, 5).map((character) => `“${visible(character)}”`).join(", ");
    said.push(`${list} ${strange.length > 1 ? "are" : "is"} unknown to the model and left out.`);
  }
  if (cut) said.push(`Only the first ${tokens.length} characters are read: ${cut} too many.`);
  return said.join(" ");
}
