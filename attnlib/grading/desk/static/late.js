// Late rules: one for all, and what holds for a student instead.

import { ask, desk, edit, value } from "./data.js";
import { byId, el, plural, shown } from "./dom.js";

const RULE = { due: "", grace: 0, amount: 0, unit: "points", cap: null };
const MINE = { due: "", handed: "", days: null, reason: "" };
let open = null; // the student whose exemption is being written

const field = (id, words, input, hint) =>
    el(
        "div",
        { class: "field" },
        el("label", { for: id }, words),
        input,
        hint ? el("p", { class: "hint" }, hint) : null,
    );
const input = (id, type, now, more = {}) => el("input", { id, type, value: now ?? "", ...more });
const number = (made) => (made.value === "" ? null : made.valueAsNumber);

function form() {
    const now = { ...RULE, ...value("late") };
    const due = input("due", "datetime-local", now.due);
    const grace = input("grace", "number", now.grace, { min: 0, step: "any" });
    const amount = input("amount", "number", now.amount, { min: 0, step: "any" });
    const unit = el(
        "select",
        { id: "unit" },
        desk.late_units.map((one) => el("option", { value: one, selected: one === now.unit }, one)),
    );
    const cap = input("cap", "number", now.cap, { min: 0, step: "any" });
    const save = () => {
        const bound = unit.value === "points" ? "" : 100;
        amount.max = cap.max = bound;
        if (!made.reportValidity()) return;
        edit("late", {
            due: due.value,
            grace: number(grace) ?? 0,
            amount: number(amount) ?? 0,
            unit: unit.value,
            cap: number(cap),
        });
    };
    const made = el(
        "form",
        {
            class: "rule",
            onchange: save,
            onsubmit: (event) => event.preventDefault(),
            "aria-label": "The rule for all",
        },
        field("due", "Due", due, "On the clock of this computer. Empty: nothing is late."),
        field("grace", "Grace, minutes", grace, "Within it nobody is late. After it days count from the due date."),
        field("amount", "Taken off for each day that has begun", amount),
        field("unit", "Of what", unit),
        field("cap", "At most", cap, "In the same unit. Empty: until nothing is left."),
    );
    return made;
}

function exemption(student, draw) {
    const now = { ...MINE, ...value(`late/${student}`) };
    const due = input("mine-due", "datetime-local", now.due);
    const handed = input("mine-handed", "datetime-local", now.handed);
    const days = input("mine-days", "number", now.days, { min: 0, step: 1 });
    const reason = input("mine-reason", "text", now.reason, { maxlength: 500, autocomplete: "off" });
    const close = () => {
        open = null;
        draw();
        byId(`mine-${student}`)?.focus();
    };
    const submit = (event) => {
        event.preventDefault();
        edit(`late/${student}`, {
            due: due.value,
            handed: handed.value,
            days: number(days),
            reason: reason.value.trim(),
        });
        close();
    };
    return el(
        "form",
        { class: "rule", onsubmit: submit, "aria-label": `What holds for ${student}` },
        field("mine-due", "Due", due),
        field("mine-handed", "Really handed in", handed),
        field("mine-days", "Days that count, whatever the times say", days, "0: not late."),
        field("mine-reason", "Reason (the student reads it)", reason),
        el(
            "div",
            { class: "buttons" },
            el("button", {}, "Save"),
            el("button", { type: "button", onclick: close }, "Cancel"),
        ),
    );
}

export async function lateView(draw) {
    const verdicts = await ask("late");
    const rows = Object.entries(verdicts).map(([student, verdict]) => {
        const set = Object.entries(value(`late/${student}`) ?? {}).some(([, what]) => what !== "" && what !== null);
        const handed = value(`late/${student}`)?.handed || verdict.handed;
        const blamed = desk.students[student].marked_late && verdict.days === null;
        const marked = blamed ? "Canvas calls it late, but names no time. " : "";
        return [
            el(
                "tr",
                {},
                el("th", { scope: "row" }, shown(student)),
                el("td", {}, handed ? handed.replace("T", " ").slice(0, 16) : "unknown"),
                el("td", {}, verdict.days === null ? "?" : `${verdict.days}`),
                el("td", {}, verdict.points ? `−${verdict.points}` : "0"),
                el("td", { class: "words" }, marked, shown(verdict.words)),
                el(
                    "td",
                    {},
                    el(
                        "button",
                        {
                            type: "button",
                            id: `mine-${student}`,
                            class: "edit",
                            "aria-expanded": String(open === student),
                            "aria-label": `What holds for ${student}`,
                            onclick: () => {
                                open = open === student ? null : student;
                                draw();
                            },
                        },
                        set ? "Changed" : "Change",
                    ),
                ),
            ),
            open === student ? el("tr", {}, el("td", { colspan: 6 }, exemption(student, draw))) : null,
        ];
    });
    const late = Object.values(verdicts).filter((verdict) => verdict.days).length;
    const unknown = Object.values(verdicts).filter((verdict) => verdict.days === null).length;
    return el(
        "div",
        { class: "sheet" },
        el("h2", { id: "heading", tabindex: "-1" }, "Late rules"),
        form(),
        el(
            "p",
            {},
            `${plural(late, "student")} late. `,
            unknown
                ? `Of ${unknown} nobody knows when they handed in: open the desk with a table, --times, or change their lines here.`
                : "",
        ),
        el(
            "div",
            { class: "wide", tabindex: "0", role: "region", "aria-label": "Students" },
            el(
                "table",
                {},
                el(
                    "thead",
                    {},
                    el(
                        "tr",
                        {},
                        ["student", "handed in", "days", "points", "in words", "for this student"].map((one) =>
                            el("th", { scope: "col" }, one),
                        ),
                    ),
                ),
                el("tbody", {}, rows),
            ),
        ),
    );
}
