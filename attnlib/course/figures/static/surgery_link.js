import { button, field } from "../../../figures/static/controls.js";
import { html } from "../../../figures/static/dom.js";

// A link to a state: copied, or shown to be copied by hand where the page may not. It always answers in words.

/** @param {() => string} hash of the present state
 * @returns {{control: HTMLElement, answer: HTMLElement, say: (text: string) => void}} */
export function linkMaker(hash) {
  const words = html("p", { class: "as-notice", role: "status" });
  const place = field("link", { readonly: true }, () => {});
  place.element.hidden = true;
  function say(text) {
    place.element.hidden = true;
    words.textContent = text;
  }
  async function copy() {
    const link = location.href.split("#")[0] + hash();
    try {
      await navigator.clipboard.writeText(link); // where there is no clipboard this throws as well
      say("Link copied: it opens this page with this text and these weights.");
    } catch {
      say("The browser keeps its clipboard to itself. Here is the link, selected, to copy by hand:");
      place.show(link);
      place.element.hidden = false;
      place.input.select();
    }
  }
  return { control: button("Copy link", copy), answer: html("div", { class: "as-answer" }, words, place.element), say };
}
