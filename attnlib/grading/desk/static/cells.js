// What was decided about one answer, and the words for it.

import { desk, edit, keysUnder, value } from "./data.js";
import { signed } from "./dom.js";

export const NOTHING = { items: [], none: false, points: null, comment: "", corrected: {} };

export const cellKey = (student, unit) => `cell/${student}/${unit}`;

export function cell(student, unit) {
    return { ...NOTHING, ...value(cellKey(student, unit.id)) };
}

// Change a part of what was decided about each of these students.
export function decide(students, unit, part, wait = 0) {
    for (const student of students) {
        const now = cell(student, unit);
        const { items, none, points, comment, corrected } = now;
        const changed = typeof part === "function" ? part(now) : part;
        edit(cellKey(student, unit.id), { items, none, points, comment, corrected, ...changed }, wait);
    }
}

export function items(unit) {
    const prefix = `item/${unit.id}/`;
    const all = keysUnder(prefix).map((key) => ({ id: key.slice(prefix.length), ...value(key) }));
    return all.filter((item) => !item.gone).sort((a, b) => a.place - b.place || (a.id < b.id ? -1 : 1));
}

export const full = (unit) => Boolean(value(`rubric/${unit.id}`)?.full);

export function pointsOf(student, unit) {
    const got = Object.keys(unit.cells).map((one) => desk.points[student]?.[one] ?? null);
    return got.includes(null) ? null : got.reduce((a, b) => a + b, 0);
}

export const most = (unit) => Object.values(unit.cells).reduce((a, b) => a + b, 0);
export const name = (student, blind) => (blind ? `No. ${desk.students[student]?.number ?? "?"}` : student);

// A value in words, for whoever has to choose between two.
export function inWords(key, decided) {
    const [kind, , unit] = key.split("/");
    if (!decided || !Object.keys(decided).length) return "nothing decided";
    if (kind !== "cell") {
        if (kind === "item") return decided.gone ? "removed" : `${decided.words} (${signed(decided.points)})`;
        return Object.entries(decided)
            .map(([part, what]) => `${part}: ${what ?? "none"}`)
            .join("; ");
    }
    const said = decided.items.map((id) => {
        const item = value(`item/${unit}/${id}`);
        return item ? `${item.words} (${signed(item.points)})` : id;
    });
    if (decided.none && !said.length) said.push("no item applies");
    if (decided.points !== null) said.push(`${decided.points} points by hand`);
    for (const [test, change] of Object.entries(decided.corrected))
        said.push(`${test}: ${change.points} (${change.reason})`);
    if (decided.comment) said.push(`comment: ${decided.comment}`);
    return said.join("; ") || "nothing decided";
}

export function about(key, blind) {
    const [kind, first, second] = key.split("/");
    if (kind === "cell") return `${name(first, blind)}, ${second}`;
    if (kind === "item") return `an item of the rubric of ${first}`;
    if (kind === "rubric") return `how the rubric of ${first} counts`;
    return first ? `late rule for ${first}` : "late rule for all";
}
