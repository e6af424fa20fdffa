import { DASHES, roleClass, total } from "./cost_marks.js";
import { nameWidth } from "./cost_scale.js";
import { crossingBriefly, spokenCount, threeDigits } from "./cost_words.js";
import { html, set, setText, svg } from "./dom.js";

// One row for each cost: its line, its name, what it is made of, how much it is, and from where on it is dearer.

const BESIDE = 14; // px that a part of a bar has beside its name

/** @returns {{element: HTMLElement, draw: (figure: object) => void}} */
export function costRows() {
  const element = html("ul", { class: "cc-rows" });
  let built = "", rows = [];

  function build(figure) {
    built = figure.quantity;
    rows = figure.costs.map((one, n) => {
      const amount = html("span", { class: "cc-amount" });
      const meets = html("span", { class: "cc-meets" });
      const parts = one.parts.map(({ name, role }) =>
        html("span", { class: `cc-part${roleClass(role)}` }, html("span", {}, name)));
      const bar = html("div", { class: "cc-bar", role: "img" }, ...parts);
      const line = svg("svg", { class: "cc-swatch", width: 34, height: 10, "aria-hidden": "true" },
        svg("path", { d: "M0,5 H34", class: `cc-curve${n ? "" : " cc-first"}`,
          "stroke-dasharray": DASHES[n] || null }));
      const name = html("b", { class: "cc-name", dir: "auto" }, one.name);
      element.append(html("li", {}, line, name, bar, amount, meets));
      return { amount, meets, parts, bar };
    });
  }

  function draw(figure) {
    if (built !== figure.quantity) {
      element.replaceChildren();
      build(figure);
    }
    const [first] = figure.costs;
    const room = rows[0].bar.clientWidth; // px, read before anything is written
    const base = total(first.now);
    figure.costs.forEach((one, n) => {
      const { amount, meets, parts, bar } = rows[n];
      const sum = total(one.now);
      setText(amount, n && base > 0 ? `${spokenCount(sum)} · ${threeDigits(sum / base)} ×` : spokenCount(sum));
      setText(meets, n ? crossingBriefly(one.crossing) : "the measure");
      const shares = one.now.map((part) => (sum > 0 ? part / sum : 0));
      const said = one.parts.map(({ name }, p) => `${name} ${percent(shares[p])}`);
      set(bar, { "aria-label": `made of ${said.join(", ")}` });
      parts.forEach((part, p) => {
        part.style.width = `${100 * shares[p]}%`;
        part.classList.toggle("cc-thin", shares[p] * room < nameWidth(one.parts[p].name) + BESIDE);
      });
    });
  }
  return { element, draw };
}

/** A share, "12 %". @param {number} share in 0..1 */
export function percent(share) {
  return `${share > 0 && share < 0.005 ? "under 1" : Math.round(100 * share)} %`;
}
