// The page: which sheet is open, what the keys do, and what is said about saving.

import { about, inWords, items } from "./cells.js";
import { ask, conflicts, desk, flush, listen, load, on, settle, unsaved } from "./data.js";
import { byId, el, keepingPlace, plural, shown } from "./dom.js";
import { go, gradeView, groupOf, nextOpen, nextTarget, place, stateOf, targets } from "./grade.js";
import { lateView } from "./late.js";
import { statisticsView } from "./pictures.js";
import { toggle, toggleNone } from "./rubric.js";

const KEYS = [
    ["j or →", "next answer"],
    ["k or ←", "previous answer"],
    ["u", "next answer that is not graded"],
    ["1 to 9", "an item of the rubric, on or off"],
    ["0", "no item applies"],
    ["n", "write a new item"],
    ["p", "points by hand"],
    ["c", "comment"],
    ["t", "decide for all of the group, or for one after the other"],
    ["b", "hide names, or show them"],
    ["[ and ]", "previous and next sheet"],
    ["Esc", "leave a field"],
    ["?", "this list"],
];
let sheet = 0;
let sheets = [];
let said = []; // of the last export
let turn = 0; // drawings that wait for numbers; the last one counts

const blind = () => byId("blind").checked;
const unit = () => sheets[sheet].unit;

function draw() {
    waiting = false;
    keepingPlace(drawTabs);
    if (unit()) keepingPlace(() => byId("main").replaceChildren(gradeView(unit(), blind(), draw, open)));
    else drawLater(sheets[sheet].view);
}

// Somebody who writes, or has pressed a button and not let go, would lose it under a new drawing.
let pressed = false;
let waiting = false;
const WRITTEN = "main :is(input, textarea, select)";

function drawWhenFree() {
    waiting = pressed || Boolean(document.activeElement?.matches(WRITTEN));
    if (!waiting) draw();
    else if (!pressed) drawAround();
}

// All but what somebody may be writing in.
function drawAround() {
    drawTabs();
    if (!unit()?.groups.length) return;
    const fresh = gradeView(unit(), blind(), draw, open);
    for (const part of ["aside", "#result"]) {
        byId("main").querySelector(part).replaceWith(fresh.querySelector(part));
    }
}

function freeAgain() {
    setTimeout(() => waiting && drawWhenFree());
}

async function drawLater(view) {
    const mine = ++turn;
    try {
        const made = await view(draw);
        if (mine === turn && !unit() && sheets[sheet].view === view)
            keepingPlace(() => byId("main").replaceChildren(made));
    } catch (error) {
        if (mine === turn) byId("main").replaceChildren(el("p", { class: "wrong" }, error.message));
    }
}

function drawTabs() {
    byId("tabs").replaceChildren(
        ...sheets.map(({ title, unit: one }, n) => {
            const open = one ? Object.values(desk.states[one.id] ?? {}).filter((state) => state !== "done").length : 0;
            return el(
                "li",
                {},
                el(
                    "button",
                    {
                        type: "button",
                        id: `tab-${n}`,
                        "aria-current": n === sheet ? "page" : false,
                        onclick: () => show(n),
                    },
                    title,
                    open ? el("span", { class: "badge" }, `${open}`, el("span", { class: "unseen" }, " open")) : null,
                ),
            );
        }),
    );
}

function show(n) {
    flush();
    sheet = (n + sheets.length) % sheets.length;
    place.target = "all";
    draw();
    document.title = `${sheets[sheet].title} · Grading desk`;
}

function open(index) {
    go(unit(), index);
    draw();
    byId("heading")?.focus();
    scrollTo(0, 0);
    for (const box of document.querySelectorAll("section.answer > pre")) box.scrollTop = 0;
    const entry = byId(`group-${groupOf(unit())}`);
    if (entry) entry.closest("ol").scrollTop = entry.offsetTop - entry.closest("ol").offsetTop - 120; // and not the page
}

async function exportView(redraw) {
    const write = async () => {
        button.disabled = true;
        await flush();
        said = unsaved() ? ["Something is not saved yet: nothing was written."] : (await ask("export", {})).said;
        redraw();
        byId("said")?.focus();
    };
    const button = el(
        "button",
        {
            type: "button",
            id: "write",
            onclick: () =>
                write().catch((error) => {
                    said = [error.message];
                    redraw();
                }),
        },
        "Write all files",
    );
    return el(
        "div",
        { class: "sheet" },
        el("h2", { id: "heading", tabindex: "-1" }, "Give back"),
        el("p", {}, "Writes into ", el("code", {}, desk.folder), ":"),
        el(
            "ul",
            {},
            el(
                "li",
                {},
                el("code", {}, "grades.csv"),
                ": the table of ",
                el("code", {}, "grade"),
                ", with comments, corrected points and what lateness took off",
            ),
            el(
                "li",
                {},
                el("code", {}, "written.csv"),
                ": points and comments of texts, as ",
                el("code", {}, "grade --written"),
                " reads them",
            ),
            el("li", {}, el("code", {}, "feedback"), ": a page for each student"),
            el("li", {}, el("code", {}, "back"), ": what Canvas, Moodle or Gradescope takes in bulk"),
        ),
        button,
        el(
            "ul",
            { id: "said", tabindex: "-1", "aria-label": "What was written", "aria-live": "polite" },
            said.map((words) => el("li", {}, shown(words))),
        ),
    );
}

function drawStatus() {
    const waiting = unsaved();
    const box = byId("status");
    const words = desk.refused
        ? `Not saved: ${desk.refused}`
        : desk.lost
          ? `${waiting ? `Not saved (${plural(waiting, "change")})` : "Not connected"}: ${desk.lost}. Leave this page open.`
          : conflicts.size
            ? `Not saved: ${plural(conflicts.size, "conflict")}`
            : waiting
              ? "Saving…"
              : "All saved";
    box.className = desk.lost || desk.refused || conflicts.size ? "bad" : waiting ? "busy" : "good";
    if (box.textContent !== words) box.textContent = words;
}

function drawConflicts() {
    const box = byId("conflicts");
    if (!conflicts.size) {
        box.close();
        return;
    }
    const all = (mine) => [...conflicts.keys()].forEach((key) => settle(key, mine));
    byId("conflicts-list").replaceChildren(
        conflicts.size > 1
            ? el(
                  "p",
                  { class: "buttons" },
                  el("button", { type: "button", onclick: () => all(false) }, "Keep all that is in the file"),
                  el("button", { type: "button", onclick: () => all(true) }, "Keep all of mine"),
              )
            : "",
        ...[...conflicts].map(([key, { theirs, mine }], n) =>
            el(
                "section",
                {},
                el("h3", {}, shown(about(key, blind()))),
                el(
                    "dl",
                    {},
                    el("dt", {}, "In the file"),
                    el("dd", {}, shown(inWords(key, theirs.value))),
                    el("dt", {}, "Yours"),
                    el("dd", {}, shown(inWords(key, mine))),
                ),
                el(
                    "button",
                    { type: "button", id: `theirs-${n}`, onclick: () => settle(key, false) },
                    "Keep what is in the file",
                ),
                el("button", { type: "button", id: `mine-${n}`, onclick: () => settle(key, true) }, "Keep mine"),
            ),
        ),
    );
    if (!box.open) box.showModal();
}

const press = (id) => byId(id)?.focus();

function keyDown(event) {
    const field = event.target.closest?.("input:not([type=checkbox]), textarea, select");
    if (event.key === "Escape" && field) {
        field.blur();
        press("heading");
        return;
    }
    if (
        field ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        !byId("keys").checked ||
        document.querySelector("dialog[open]")
    )
        return;
    const one = unit();
    const text = one?.kind === "text" && one.groups.length;
    const item = text && /^[1-9]$/u.test(event.key) ? items(one)[Number(event.key) - 1] : null;
    const actions = {
        "?": () => byId("help").showModal(),
        b: () => byId("blind").click(),
        "[": () => show(sheet - 1),
        "]": () => show(sheet + 1),
        ...(one?.groups.length && {
            j: () => open(groupOf(one) + 1),
            ArrowRight: () => open(groupOf(one) + 1),
            k: () => open(groupOf(one) - 1),
            ArrowLeft: () => open(groupOf(one) - 1),
            u: () => open(nextOpen(one) ?? groupOf(one)),
            t: () => {
                nextTarget(one);
                draw();
            },
            c: () => press("comment"),
        }),
        ...(text && {
            n: () => press("new-words"),
            p: () => press("points"),
            0: () => {
                toggleNone(one, targets(one));
                draw();
            },
        }),
        ...(item && {
            [event.key]: () => {
                toggle(one, targets(one), item.id);
                draw();
            },
        }),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
}

async function start() {
    byId("help-list").append(
        ...KEYS.flatMap(([key, words]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, words)]),
    );
    byId("help-open").addEventListener("click", () => byId("help").showModal());
    // it has to be decided: browsers close a dialog at the second Esc, whatever a page says to the first
    byId("conflicts").addEventListener("cancel", (event) => event.preventDefault());
    byId("conflicts").addEventListener("close", drawConflicts);
    try {
        await load();
    } catch (error) {
        byId("main").append(el("p", { class: "wrong" }, error.message));
        return;
    }
    byId("title").replaceChildren(shown(desk.title));
    const units = desk.units.map((one) => ({ title: `${one.id} · ${one.kind}`, unit: one }));
    sheets = [
        ...units,
        { title: "Statistics", view: statisticsView },
        { title: "Late rules", view: lateView },
        { title: "Give back", view: exportView },
    ];
    const first = units.findIndex(({ unit: one }) => one.groups.some((group) => stateOf(group, one) !== "done"));
    if (first >= 0) {
        const one = units[first].unit;
        go(
            one,
            one.groups.findIndex((group) => stateOf(group, one) !== "done"),
        );
    }
    byId("blind").addEventListener("change", draw);
    addEventListener("keydown", keyDown);
    addEventListener("beforeunload", (event) => unsaved() && event.preventDefault());
    on("status", drawStatus);
    on("conflicts", drawConflicts);
    on("news", drawWhenFree);
    addEventListener("pointerdown", () => (pressed = true), true);
    for (const end of ["pointerup", "pointercancel"]) {
        addEventListener(
            end,
            () => {
                pressed = false;
                freeAgain();
            },
            true,
        );
    }
    addEventListener("focusout", freeAgain);
    addEventListener("visibilitychange", flush); // who looks at another tab has stopped to write
    addEventListener("resize", () => unit() || draw()); // pictures are as wide as the page
    show(Math.max(0, first));
    drawStatus();
    listen();
}

start();
