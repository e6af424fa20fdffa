// Code: what its tests said, and points that a person corrects, with a reason.

import { cell, decide, most, pointsOf } from "./cells.js";
import { desk } from "./data.js";
import { byId, el, shown } from "./dom.js";
import { comment } from "./rubric.js";

let open = null; // the test whose points are being corrected

function form(unit, students, test, was, draw) {
    const limit = unit.cells[test];
    const points = el("input", {
        id: "corrected-points",
        type: "number",
        step: "any",
        min: 0,
        max: limit,
        value: was?.points ?? limit,
        required: true,
    });
    const reason = el("input", {
        id: "corrected-reason",
        type: "text",
        maxlength: 500,
        value: was?.reason ?? "",
        required: true,
        autocomplete: "off",
    });
    const close = () => {
        open = null;
        draw();
        byId(`correct-${test}`)?.focus();
    };
    const submit = (event) => {
        event.preventDefault();
        if (!reason.value.trim()) return;
        const change = { points: points.valueAsNumber, reason: reason.value.trim() };
        decide(students, unit, (now) => ({ corrected: { ...now.corrected, [test]: change } }));
        close();
    };
    const undo = () => {
        decide(students, unit, (now) => ({
            corrected: Object.fromEntries(Object.entries(now.corrected).filter(([one]) => one !== test)),
        }));
        close();
    };
    return el(
        "form",
        { class: "item-form", onsubmit: submit, "aria-label": `Correct ${test}` },
        el("label", { for: "corrected-points" }, "Points"),
        points,
        el("label", { for: "corrected-reason" }, "Reason (the student reads it)"),
        reason,
        el(
            "div",
            { class: "buttons" },
            el("button", { id: "corrected-save" }, "Save"),
            was ? el("button", { type: "button", onclick: undo }, "Undo the correction") : null,
            el("button", { type: "button", onclick: close }, "Cancel"),
        ),
    );
}

export function tests(unit, students, group, draw) {
    const machine = desk.students[group.members[0]];
    const rows = Object.entries(unit.cells).map(([test, of]) => {
        const given = machine.points[test];
        const changes = students.map((student) => cell(student, unit).corrected[test]);
        const was = changes.every(
            (change) => change && change.points === changes[0].points && change.reason === changes[0].reason,
        )
            ? changes[0]
            : null;
        const some = !was && changes.some(Boolean);
        const said = given === of ? "passed" : machine.words[test] || "lost, and said nothing";
        return el(
            "li",
            { class: given === of ? "passed" : "failed" },
            el(
                "div",
                { class: "test" },
                el("code", {}, test),
                el("b", { class: was ? "old" : "" }, `${given ?? "–"} of ${of}`),
                was ? el("b", { class: "new" }, `${was.points} of ${of}`) : null,
                el(
                    "button",
                    {
                        type: "button",
                        id: `correct-${test}`,
                        class: "edit",
                        "aria-expanded": String(open === test),
                        "aria-label": `Correct the points of ${test}`,
                        onclick: () => {
                            open = open === test ? null : test;
                            draw();
                            byId("corrected-points")?.focus();
                        },
                    },
                    was || some ? "Corrected" : "Correct",
                ),
            ),
            el("p", { class: "said" }, shown(said)),
            was ? el("p", { class: "said reason" }, "By hand: ", shown(was.reason)) : null,
            some ? el("p", { class: "said reason" }, "Corrected for some of them.") : null,
            open === test ? form(unit, students, test, was, draw) : null,
        );
    });
    const own = Object.entries(machine.words).filter(([id]) => id in (unit.answers[group.members[0]] ?? {}));
    const got = [...new Set(students.map((student) => pointsOf(student, unit)))].map((one) => one ?? "–");
    return [
        el("p", { class: "result", id: "result" }, el("b", {}, got.join(", ")), ` of ${most(unit)} points`),
        el("h3", { id: "tests-title" }, "What the tests said"),
        own.map(([id, words]) => el("p", { class: "note" }, `The cell ${id} did not run: `, shown(words))),
        el("ol", { class: "tests", "aria-labelledby": "tests-title" }, rows),
        comment(unit, students),
    ];
}
