// Elements without a line of HTML: whatever a student wrote becomes a text node.

const SVG = "http://www.w3.org/2000/svg";
// Characters that change how others look, or that cannot be seen: each is shown by its number.
const HIDDEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;
// A browser is slow with more than this; the rest is shown when somebody asks for it.
export const SHOWN = 20000;

function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
        else if (["value", "checked", "disabled", "open", "selected"].includes(name)) made[name] = value;
        else if (value === true) made.setAttribute(name, "");
        else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
    return made;
}

export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

// Text of a student: characters that mislead the eye are marked, and its direction ends with it.
export function shown(text) {
    const parts = [];
    let last = 0;
    for (const found of text.matchAll(HIDDEN)) {
        const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
        parts.push(text.slice(last, found.index), el("span", { class: "hidden-character" }, `U+${code}`));
        last = found.index + found[0].length;
    }
    return el("bdi", {}, [...parts, text.slice(last)]);
}

// The same in a box, the first part of it when it is very long.
export function answer(text, id, label) {
    const long = text.length > SHOWN;
    const box = el("pre", { id, tabindex: "0", role: "region", "aria-label": label }, shown(text.slice(0, SHOWN)));
    if (!long) return [box];
    const words = `Show all ${text.length.toLocaleString("en")} characters (the first ${SHOWN.toLocaleString("en")} are here)`;
    const more = el(
        "button",
        {
            type: "button",
            id: `${id}-more`,
            onclick: () => {
                box.replaceChildren(shown(text));
                more.remove();
            },
        },
        words,
    );
    return [box, more];
}

export const signed = (points) => (points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0");
export const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// Draw anew without taking the keyboard away from where it is, and with open and scrolled what was open and scrolled.
export function keepingPlace(draw) {
    const active = document.activeElement;
    const id = active && active !== document.body ? active.id : "";
    const caret =
        active && "selectionStart" in active ? safely(() => [active.selectionStart, active.selectionEnd]) : null;
    const open = [...document.querySelectorAll("details[id][open]")].map((one) => one.id);
    const scrolled = [...document.querySelectorAll("main [id]")]
        .filter((one) => one.scrollTop)
        .map((one) => [one.id, one.scrollTop]);
    draw();
    for (const one of open) if (byId(one)) byId(one).open = true;
    for (const [one, top] of scrolled) if (byId(one)) byId(one).scrollTop = top;
    const again = id && byId(id);
    if (again && again !== document.activeElement) {
        again.focus({ preventScroll: true });
        if (caret && caret[0] !== null) safely(() => again.setSelectionRange(...caret));
    }
}

function safely(what) {
    try {
        return what();
    } catch {
        return null; // fields for numbers have no caret
    }
}
