// The class in pictures, each with its numbers in words beside it.

import { ask } from "./data.js";
import { el, plural, shown, svg } from "./dom.js";

function picture(title, words, width, height, ...shapes) {
    const id = `picture-${title.toLowerCase().replace(/\W+/gu, "-")}`;
    return el(
        "div",
        { class: "picture" },
        svg(
            "svg",
            { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": `${id} ${id}-words` },
            svg("title", { id }, title),
            svg("desc", { id: `${id}-words` }, words),
            ...shapes,
        ),
    );
}

function numbers(head, rows) {
    return el(
        "details",
        { id: `numbers-${head[0]}` },
        el("summary", {}, "The same in numbers"),
        el(
            "div",
            { class: "wide", tabindex: "0", role: "region", "aria-label": `${head[0]} in numbers` },
            el(
                "table",
                {},
                el(
                    "thead",
                    {},
                    el(
                        "tr",
                        {},
                        head.map((one) => el("th", { scope: "col" }, one)),
                    ),
                ),
                el(
                    "tbody",
                    {},
                    rows.map((row) =>
                        el(
                            "tr",
                            {},
                            row.map((one) => el("td", {}, one)),
                        ),
                    ),
                ),
            ),
        ),
    );
}

// Pictures are drawn as wide as there is room for, so that their letters are as large as all others.
const room = () => Math.max(220, Math.min(640, document.documentElement.clientWidth - 68));

function totals(said) {
    const [width, height, bottom, top] = [room(), 260, 46, 22];
    const tallest = Math.max(1, ...said.totals.map((bar) => bar.count));
    const step = width / said.totals.length;
    const each = step < 22 ? 2 : 1; // so many bars have one number below them
    const up = (count) => ((height - bottom - top) * count) / tallest;
    const bars = said.totals.map((bar, n) => {
        const [middle, base] = [(n + 0.5) * step, height - bottom];
        return svg(
            "g",
            {},
            svg("rect", {
                class: "bar",
                x: n * step + 2,
                y: base - up(bar.count),
                width: step - 4,
                height: up(bar.count),
            }),
            bar.count
                ? svg(
                      "text",
                      { class: "count", x: middle, y: base - up(bar.count) - 6, "text-anchor": "middle" },
                      `${bar.count}`,
                  )
                : null,
            n % each ? null : svg("text", { x: middle, y: base + 18, "text-anchor": "middle" }, `${bar.low}`),
        );
    });
    const axis = [
        svg("line", { class: "axis", x1: 0, x2: width, y1: height - bottom, y2: height - bottom }),
        svg("text", { x: width / 2, y: height - 6, "text-anchor": "middle" }, `points of ${said.most}`),
    ];
    const filled = said.totals.filter((bar) => bar.count);
    const words = filled
        .map((bar) => `${plural(bar.count, "student")} from ${bar.low} to below ${bar.high}`)
        .join(", ");
    const rows = said.totals.map((bar) => [`${bar.low} to below ${bar.high}`, `${bar.count}`]);
    return [picture("Totals", words, width, height, bars, axis), numbers(["points", "students"], rows)];
}

function lines(words, width) {
    const made = [""];
    for (const word of words.split(" ")) {
        if (made.at(-1) && (made.at(-1).length + word.length) * 8 > width) made.push("");
        made.push(`${made.pop()} ${word}`.trim());
    }
    return made;
}

// A bar for each row, its words above it and its numbers behind it.
function shares(title, rows) {
    const [width, behind] = [room(), Math.max(...rows.map(({ end }) => end.length)) * 8.5 + 10];
    let y = 0;
    const shapes = rows.map(({ label, share, end, hard }) => {
        const words = lines(label, width).map((line) => svg("text", { x: 0, y: (y += 20) - 4 }, line));
        const [top, long] = [y + 2, width - behind];
        y += 32;
        return svg(
            "g",
            {},
            words,
            svg("rect", { class: "track", x: 0, y: top, width: long, height: 12, rx: 3 }),
            svg("rect", { class: hard ? "bar hard" : "bar", x: 0, y: top, width: long * share, height: 12, rx: 3 }),
            svg("text", { class: "count", x: width, y: top + 11, "text-anchor": "end" }, end),
        );
    });
    return picture(title, rows.map(({ label, end }) => `${label}: ${end}`).join("; "), width, y - 16, shapes);
}

const percent = (share) => `${Math.round(100 * share)} %`;

export async function statisticsView() {
    const said = await ask("statistics");
    const { graded, waiting, "not graded": left } = said.students;
    const known = said.questions.filter((one) => one.share !== null);
    const hardest = known.map((one) => ({
        label: one.heading.replace(/ \(\d.*\)$/u, ""),
        share: one.share,
        hard: one.share < 0.5,
        end: `${percent(one.share)} · ${one.mean} of ${one.of}`,
    }));
    const failing = said.failing.slice(0, 12).map((one) => ({
        label: one.cell,
        share: one.count / one.of,
        hard: one.count / one.of >= 0.5,
        end: `${one.count} of ${one.of}`,
    }));
    return el(
        "div",
        { class: "sheet" },
        el("h2", { id: "heading", tabindex: "-1" }, "The class"),
        el(
            "p",
            {},
            `${plural(graded, "student")} complete, ${waiting} with a text that is still to be read, ${left} not graded.`,
            said.mean === null
                ? ""
                : ` Of those that are complete, the mean is ${said.mean} and the median ${said.median} of ${said.most} points.`,
        ),
        el("h3", {}, "Totals"),
        graded ? totals(said) : el("p", { class: "empty" }, "Nobody has all points yet."),
        el("h3", {}, "Questions, the hardest first"),
        el("p", { class: "hint" }, "The share of its points that a question gave on average."),
        known.length
            ? [
                  shares("Questions by difficulty", hardest),
                  numbers(
                      ["question", "mean", "of", "students"],
                      known.map((one) => [one.heading, `${one.mean}`, `${one.of}`, `${one.count}`]),
                  ),
              ]
            : null,
        el("h3", {}, "Tests that most hand-ins fail"),
        said.failing.length
            ? [
                  shares("Failing tests", failing),
                  el(
                      "details",
                      { id: "messages" },
                      el("summary", {}, "What they said"),
                      said.failing.map((one) => [
                          el("h4", {}, el("code", {}, one.cell), ` · ${one.count} of ${one.of}`),
                          el(
                              "ul",
                              {},
                              one.words.map(({ words, count }) => el("li", {}, `${count} × `, shown(words))),
                              one.kinds > one.words.length
                                  ? el("li", {}, `and ${one.kinds - one.words.length} other messages`)
                                  : null,
                          ),
                      ]),
                  ),
              ]
            : el("p", { class: "empty" }, "No test fails."),
    );
}
