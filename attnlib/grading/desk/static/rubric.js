// A text: the items of its rubric, points by hand, and a comment.

import { cell, decide, full, items, most, pointsOf } from "./cells.js";
import { edit } from "./data.js";
import { byId, el, signed } from "./dom.js";

const WRITING = 600; // milliseconds after the last letter, until it is sent
let editing = null; // the item whose words are being changed

export const has = (students, unit, id) => students.every((student) => cell(student, unit).items.includes(id));

export function toggle(unit, students, id) {
    const all = has(students, unit, id);
    decide(students, unit, (now) => ({
        items: all ? now.items.filter((other) => other !== id) : [...new Set([...now.items, id])],
        none: false,
        points: null,
    }));
}

export function toggleNone(unit, students) {
    const all = students.every((student) => cell(student, unit).none);
    decide(students, unit, { none: !all, items: [], points: null });
}

function save(unit, id, words, points, place) {
    edit(`item/${unit.id}/${id}`, { words, points, place, gone: false });
}

// The form of a new item, or of one that is changed.
function form(unit, item, draw) {
    const limit = most(unit);
    const words = el("input", {
        id: item ? `words-${item.id}` : "new-words",
        type: "text",
        value: item?.words ?? "",
        required: true,
        maxlength: 500,
        autocomplete: "off",
    });
    const points = el("input", {
        id: item ? `points-${item.id}` : "new-points",
        type: "number",
        step: "any",
        min: -limit,
        max: limit,
        value: item?.points ?? (full(unit) ? -1 : 1),
        required: true,
    });
    const submit = (event) => {
        event.preventDefault();
        const last = Math.max(0, ...items(unit).map((one) => one.place));
        const id = item?.id ?? crypto.randomUUID().replaceAll("-", "").slice(0, 12);
        save(unit, id, words.value.trim(), points.valueAsNumber, item?.place ?? last + 1);
        editing = null;
        draw();
        if (item) byId(`item-${id}`)?.focus();
        else byId("new-words").focus();
    };
    const close = () => {
        editing = null;
        draw();
        byId(`edit-${item.id}`)?.focus();
    };
    const remove = () => {
        edit(`item/${unit.id}/${item.id}`, { words: item.words, points: item.points, place: item.place, gone: true });
        editing = null;
        draw();
    };
    return el(
        "form",
        { class: "item-form short", onsubmit: submit, "aria-label": item ? `Change ${item.words}` : "A new item" },
        el("label", { for: words.id }, item ? "Words" : ["New item ", el("kbd", {}, "n")]),
        words,
        el("label", { for: points.id }, "Points"),
        points,
        el("button", { id: item ? "item-save" : "item-add" }, item ? "Save" : "Add"),
        item
            ? [
                  el("button", { type: "button", onclick: remove }, "Remove"),
                  el("button", { type: "button", onclick: close }, "Cancel"),
              ]
            : null,
    );
}

function row(unit, students, item, n, draw) {
    if (editing === item.id) return el("li", {}, form(unit, item, draw));
    const on = has(students, unit, item.id);
    const some = !on && students.some((student) => cell(student, unit).items.includes(item.id));
    const pick = el(
        "button",
        {
            type: "button",
            id: `item-${item.id}`,
            class: "item",
            "aria-pressed": on ? "true" : some ? "mixed" : "false",
            onclick: () => {
                toggle(unit, students, item.id);
                draw();
            },
        },
        el("kbd", {}, n < 9 ? `${n + 1}` : "·"),
        el("span", {}, item.words),
        el("b", {}, signed(item.points)),
    );
    const change = el(
        "button",
        {
            type: "button",
            id: `edit-${item.id}`,
            class: "edit",
            "aria-label": `Change ${item.words}`,
            onclick: () => {
                editing = item.id;
                draw();
                byId(`words-${item.id}`)?.focus();
            },
        },
        "Edit",
    );
    return el("li", {}, pick, change);
}

export function comment(unit, students) {
    const said = [...new Set(students.map((student) => cell(student, unit).comment))];
    const area = el("textarea", {
        id: "comment",
        rows: 3,
        maxlength: 20000,
        value: said.length === 1 ? said[0] : "",
        placeholder: said.length > 1 ? `${said.length} different comments: what you write here replaces them` : "",
    });
    area.addEventListener("input", () => decide(students, unit, { comment: area.value }, WRITING));
    return el(
        "div",
        { class: "field" },
        el(
            "label",
            { for: "comment" },
            students.length > 1 ? `Comment for all ${students.length} ` : "Comment ",
            el("kbd", {}, "c"),
        ),
        area,
    );
}

export function rubric(unit, students, draw) {
    const list = items(unit).map((item, n) => row(unit, students, item, n, draw));
    const none = students.every((student) => cell(student, unit).none);
    const byHand = [...new Set(students.map((student) => cell(student, unit).points))];
    const got = [...new Set(students.map((student) => pointsOf(student, unit)))];
    const wrong = el("p", { id: "points-wrong", class: "wrong", role: "alert" });
    const hand = el("input", {
        id: "points",
        type: "number",
        step: "any",
        min: 0,
        max: most(unit),
        value: byHand.length === 1 ? (byHand[0] ?? "") : "",
        "aria-describedby": "points-wrong",
    });
    hand.addEventListener("input", () => {
        wrong.textContent = hand.checkValidity() ? "" : `From 0 to ${most(unit)}: nothing is changed yet.`;
        if (hand.checkValidity())
            decide(students, unit, { points: hand.value === "" ? null : hand.valueAsNumber }, WRITING);
    });
    const start = el(
        "select",
        {
            id: "start",
            onchange: () => {
                edit(`rubric/${unit.id}`, { full: start.value === "full" });
            },
        },
        el("option", { value: "zero", selected: !full(unit) }, "Items add to 0"),
        el("option", { value: "full", selected: full(unit) }, `Items take off from ${most(unit)}`),
    );
    const result = got.length === 1 ? (got[0] === null ? "–" : got[0]) : got.map((one) => one ?? "–").join(", ");
    return [
        el("p", { class: "result", id: "result" }, el("b", {}, `${result}`), ` of ${most(unit)} points`),
        el(
            "div",
            { class: "title" },
            el("h3", { id: "rubric-title" }, "Rubric"),
            el("label", { for: "start", class: "unseen" }, "How the rubric counts"),
            start,
        ),
        el(
            "ol",
            { class: "items", "aria-labelledby": "rubric-title" },
            list,
            el(
                "li",
                {},
                el(
                    "button",
                    {
                        type: "button",
                        id: "none",
                        class: "item",
                        "aria-pressed": String(none),
                        onclick: () => {
                            toggleNone(unit, students);
                            draw();
                        },
                    },
                    el("kbd", {}, "0"),
                    el("span", {}, "None of them applies"),
                    el("b", {}, full(unit) ? `${most(unit)}` : "0"),
                ),
            ),
        ),
        comment(unit, students),
        el(
            "div",
            { class: "field across" },
            el("label", { for: "points" }, "Points by hand ", el("kbd", {}, "p")),
            hand,
            el("p", { class: "hint" }, "in place of the rubric's"),
            wrong,
        ),
        form(unit, null, draw),
    ];
}
