// One unit: the groups of equal answers, the answer that is looked at, and what is decided about it.

import { cell, decide, most, name, pointsOf } from "./cells.js";
import { desk, flush } from "./data.js";
import { answer, el, plural, shown } from "./dom.js";
import { rubric } from "./rubric.js";
import { tests } from "./tests.js";

export const place = { group: {}, target: "all" }; // where somebody is: a group in each unit, and whom decisions are for

const SIGNS = { done: "✓", open: "○", stale: "!" };
const SAID = { done: "graded", open: "not graded", stale: "handed in anew" };

export const groupOf = (unit) => Math.min(place.group[unit.id] ?? 0, Math.max(unit.groups.length - 1, 0));

export function stateOf(group, unit) {
    const states = group.members.map((student) => desk.states[unit.id]?.[student]);
    return states.includes("stale") ? "stale" : states.includes("open") ? "open" : "done";
}

export function targets(unit) {
    const { members } = unit.groups[groupOf(unit)];
    return members.includes(place.target) ? [place.target] : members;
}

export function go(unit, index) {
    flush();
    place.group[unit.id] = Math.max(0, Math.min(index, unit.groups.length - 1));
    place.target = "all";
}

// The next group of which something is still to be graded, from here on and around.
export function nextOpen(unit) {
    const here = groupOf(unit);
    const order = unit.groups.map((_, n) => (here + 1 + n) % unit.groups.length);
    return order.find((n) => stateOf(unit.groups[n], unit) !== "done");
}

export function nextTarget(unit) {
    const { members } = unit.groups[groupOf(unit)];
    const all = members.length > 1 ? ["all", ...members] : ["all"];
    place.target = all[(all.indexOf(place.target) + 1) % all.length];
}

const pointsText = (group, unit) => {
    const found = [...new Set(group.members.map((student) => pointsOf(student, unit)))];
    const texts = found.map((points) => (points === null ? "–" : `${points}`));
    return `${texts.join(", ")} of ${most(unit)}`;
};

function snippet(group, unit) {
    if (group.empty) return "nothing written";
    const text = Object.values(unit.answers[group.members[0]]).join(" ");
    return text.slice(0, 400).trim().replace(/\s+/gu, " ").slice(0, 90) || "nothing written";
}

function list(unit, blind, open) {
    const here = groupOf(unit);
    const entries = unit.groups.map((group, n) => {
        const state = stateOf(group, unit);
        const label = [
            el("span", { class: `sign ${state}`, "aria-hidden": "true" }, SIGNS[state]),
            el(
                "span",
                { class: "of" },
                `${n + 1}. ${group.members.length > 1 ? plural(group.members.length, "answer") : name(group.members[0], blind)}`,
            ),
            el("span", { class: "got" }, pointsText(group, unit)),
            el("span", { class: "snippet" }, shown(snippet(group, unit))),
            el("span", { class: "unseen" }, SAID[state]),
        ];
        const attributes = {
            type: "button",
            id: `group-${n}`,
            onclick: () => open(n),
            "aria-current": n === here ? "true" : false,
        };
        return el("li", {}, el("button", attributes, label));
    });
    return el("ol", { id: "groups", "aria-label": "Groups of equal answers" }, entries);
}

function progress(unit) {
    const states = Object.values(desk.states[unit.id] ?? {});
    const done = states.filter((state) => state === "done").length;
    return el(
        "p",
        { class: "progress" },
        el("label", { for: "progress" }, `${done} of ${states.length} graded`),
        el("progress", { id: "progress", max: states.length, value: done }),
    );
}

function members(group, blind) {
    const students = group.members.map((student) => {
        const { flags, notes } = desk.students[student];
        const said = [...flags.map((flag) => `flag ${flag}`), ...(blind ? [] : notes)];
        return el(
            "li",
            {},
            el("b", {}, shown(name(student, blind))),
            said.length ? [" · ", shown(said.join("; "))] : null,
        );
    });
    const words = `${plural(group.members.length, "student")} ${group.empty ? "wrote nothing" : "wrote this"}`;
    if (group.members.length <= 3) return el("ul", { class: "members row", "aria-label": words }, students);
    return el(
        "details",
        { id: `members-${group.id}`, class: "members" },
        el("summary", {}, words),
        el("ul", {}, students),
    );
}

function whom(unit, group, blind, redraw) {
    if (group.members.length < 2) return null;
    const options = [
        ["all", `all ${group.members.length} of this group`],
        ...group.members.map((s) => [s, name(s, blind)]),
    ];
    const select = el(
        "select",
        {
            id: "target",
            onchange: () => {
                place.target = select.value;
                redraw();
            },
        },
        options.map(([value, words]) => el("option", { value, selected: value === place.target }, words)),
    );
    const [first, ...others] = group.members.map((student) => JSON.stringify(strip(cell(student, unit))));
    const differ = others.some((other) => other !== first);
    return el(
        "div",
        { class: "whom" },
        el("label", { for: "target" }, "Decide for ", el("kbd", {}, "t")),
        select,
        differ
            ? el(
                  "p",
                  { class: "note" },
                  "They are graded differently. What you change for all is changed for all; the rest stays as it is.",
              )
            : null,
    );
}

const strip = ({ items, none, points, comment, corrected }) => ({ items, none, points, comment, corrected });

function again(unit, students, redraw) {
    const stale = students.filter((student) => desk.states[unit.id]?.[student] === "stale");
    if (!stale.length) return null;
    const hold = () => decide(stale, unit, {});
    const anew = () => decide(stale, unit, { items: [], none: false, points: null, comment: "", corrected: {} });
    return el(
        "div",
        { class: "note", role: "group", "aria-label": "Handed in anew" },
        el(
            "p",
            {},
            "This was decided about an earlier hand-in, which was another one. Until you look again, it does not count.",
        ),
        el("button", { type: "button", id: "still", onclick: hold }, "It still holds"),
        el(
            "button",
            {
                type: "button",
                id: "anew",
                onclick: () => {
                    anew();
                    redraw();
                },
            },
            "Start anew",
        ),
    );
}

export function gradeView(unit, blind, draw, open) {
    if (!unit.groups.length) return el("p", { class: "empty" }, "Nobody has handed in anything that could be graded.");
    const index = groupOf(unit);
    const group = unit.groups[index];
    const students = targets(unit);
    const written =
        unit.answers[place.target in unit.answers && students.length === 1 ? students[0] : group.members[0]];
    const near = index && group.near >= 0.5 ? ` · ${Math.round(100 * group.near)} % like the one before` : "";
    const bodies = Object.entries(written).map(([id, text], n) => [
        Object.keys(written).length > 1 ? el("h3", {}, id) : null,
        text.trim()
            ? answer(text, `answer-${n}`, `answer ${id}`)
            : el("p", { class: "empty" }, "Nothing is written here."),
    ]);
    const panel = unit.kind === "text" ? rubric(unit, students, draw) : tests(unit, students, group, draw);
    return el(
        "div",
        { class: "desk" },
        el(
            "aside",
            { "aria-label": "All answers" },
            progress(unit),
            el(
                "button",
                {
                    type: "button",
                    id: "next-open",
                    disabled: nextOpen(unit) === undefined,
                    onclick: () => open(nextOpen(unit) ?? index),
                },
                "Next that is open ",
                el("kbd", {}, "u"),
            ),
            list(unit, blind, open),
        ),
        el(
            "section",
            { class: `answer ${unit.kind}`, "aria-labelledby": "heading" },
            el("p", { class: "question" }, unit.heading),
            el(
                "h2",
                { id: "heading", tabindex: "-1" },
                `Answer ${index + 1} of ${unit.groups.length}`,
                el(
                    "small",
                    {},
                    ` · ${plural(group.members.length, "student")}${group.empty ? " · nothing written" : ""}${near}`,
                ),
            ),
            members(group, blind),
            bodies,
            el(
                "details",
                { id: "model", class: "model" },
                el("summary", {}, unit.kind === "text" ? "Model answer" : "Our solution"),
                el("pre", { tabindex: "0", role: "region", "aria-label": "model" }, unit.model),
            ),
        ),
        el(
            "section",
            { class: "panel", "aria-label": "Decision" },
            again(unit, students, draw),
            whom(unit, group, blind, draw),
            panel,
        ),
        el(
            "div",
            { class: "steps" },
            el(
                "button",
                { type: "button", id: "previous", disabled: index === 0, onclick: () => open(index - 1) },
                "← Previous ",
                el("kbd", {}, "k"),
            ),
            el(
                "button",
                {
                    type: "button",
                    id: "next",
                    disabled: index === unit.groups.length - 1,
                    onclick: () => open(index + 1),
                },
                "Next ",
                el("kbd", {}, "j"),
                " →",
            ),
        ),
    );
}
