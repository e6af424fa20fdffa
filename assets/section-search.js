/* The search page: sections with excerpts, for questions as people ask them, with nothing but scripts that a page may load
   from the disk, too. `BOOK` is what website/section_search.py has written down; stemmer and stop words are Sphinx's.

   Not every word must occur: BM25 over title, title of the page and text, more where the glossary says that a word is
   explained, less for what lists rather than teaches. Kindred words count a little. A word that the book does not have
   stands for those that begin with it, or are one letter away. */
(() => {
  const FIELDS = [4, 1.5, 1]; // how much a word counts in the title of a section, of its page, in its text
  const KIN = 0.3; // and how much a kindred word counts
  const MOST = 30;
  const ASKING = "what why how when where which who do does did can could should would i you we me my our vs versus from has have "
    + "get gets give gives work works use used everything";
  const stop = new Set([...stopwords, ...ASKING.split(" ")]);
  const stemmer = new Stemmer();
  const stems = new Map();

  const plain = (word) => (word === "√" ? "sqrt" : word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, ""));
  const stem = (word) => stems.get(word) ?? stems.set(word, stemmer.stemWord(word)).get(word);
  /** The words of a text: as written, where, and their stems. */
  const words = (text) => [...text.matchAll(/√|[\p{L}\p{N}]+/gu)].map(({ 0: word, index }) => {
    const spelt = plain(word);
    return { spelt, stem: stem(spelt), from: index, to: index + word.length };
  });

  // --- the index ------------------------------------------------------------------------------------

  const vocabulary = new Map(); // spelling: its stem
  const places = new Map(); // stem: Map of section and weighted count
  const sections = BOOK.flatMap(([page, pageTitle, inside]) =>
    inside.map(([anchor, title, text, explained, weight]) => {
      const section = { page, pageTitle, weight, anchor, title, text, explained, length: 0 };
      [title, pageTitle, text].forEach((field, n) => {
        for (const { spelt, stem } of words(field)) {
          vocabulary.set(spelt, stem);
          if (!places.has(stem)) places.set(stem, new Map());
          places.get(stem).set(section, (places.get(stem).get(section) ?? 0) + FIELDS[n]);
          section.length += FIELDS[n];
        }
      });
      return section;
    }));
  const usual = sections.reduce((sum, { length }) => sum + length, 0) / sections.length;

  // --- the question ---------------------------------------------------------------------------------

  /** Whether one letter is wrong, missing or too much, or two have changed places. */
  const isNear = (a, b) => {
    if (a === b || Math.abs(a.length - b.length) > 1) return false;
    let n = 0;
    while (a[n] === b[n]) n++;
    const rest = (word, skip) => word.slice(n + skip);
    return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1)
      || (a[n] === b[n + 1] && a[n + 1] === b[n] && rest(a, 2) === rest(b, 2));
  };

  /** Whether one stem goes on where the other ends, or both begin alike: norm and normal, explain and explan. */
  const isKin = (a, b) => {
    let n = 0;
    while (n < a.length && a[n] === b[n]) n++;
    return a !== b && (n === a.length ? n > 3 : n > 4 && n >= 0.7 * Math.max(a.length, b.length));
  };

  /** What a word of the question stands for: stems, their kin, and the words that were taken in its place. */
  const meant = ({ spelt, stem }) => {
    const kin = [...places.keys()].filter((other) => isKin(stem, other));
    if (places.has(stem)) return { spelt, forms: [stem], kin };
    const all = [...vocabulary.keys()];
    const begun = spelt.length > 2 ? all.filter((word) => word.startsWith(spelt)) : [];
    const instead = begun.length || spelt.length < 4 ? [] : all.filter((word) => isNear(spelt, word));
    const forms = [...new Set([...begun, ...instead].map((word) => vocabulary.get(word)))];
    return { spelt, forms, kin: forms.length ? [] : kin, instead: begun.length ? undefined : instead };
  };

  /** Where a word of the question is met, how often, and how much that tells. */
  const weighed = (word) => {
    const term = meant(word);
    const counts = new Map();
    const count = (stems, share) => {
      for (const stem of stems)
        for (const [section, n] of places.get(stem)) counts.set(section, (counts.get(section) ?? 0) + share * n);
    };
    count(term.forms, 1);
    const rare = Math.log(1 + (sections.length - counts.size + 0.5) / (counts.size + 0.5));
    count(term.kin, KIN);
    return { ...term, counts, rare };
  };

  /** The best sections, with the stems that were looked for. */
  const find = (question) => {
    const asked = words(question);
    const telling = asked.filter(({ spelt }) => !stop.has(spelt));
    const terms = (telling.length ? telling : asked).map(weighed);
    const sought = new Set(terms.flatMap(({ forms, kin }) => [...forms, ...kin]));
    // Where the glossary sends whoever asks for its term.
    const explained = sections.filter(({ explained, title }) => explained && words(title).every(({ stem }) => sought.has(stem)));
    const isExplained = ({ forms }, { page }) => explained.some((term) =>
      page.endsWith(`/${term.explained}`) && words(term.title).some(({ stem }) => forms.includes(stem)));

    const results = [...new Set(terms.flatMap(({ counts }) => [...counts.keys()]))].map((section) => {
      const score = terms.reduce((sum, term) => {
        const n = term.counts.get(section) ?? 0;
        const part = term.rare * n / (n + 1.2 * (0.4 + 0.6 * section.length / usual));
        return sum + part * (isExplained(term, section) ? 1.5 : 1);
      }, 0);
      // Who writes a name of the package out, in its own way, asks for the reference.
      const isName = /[a-z][A-Z]|_/.test(question) && section.anchor.endsWith(`.${question}`);
      return { section, isName, score: section.weight * score };
    });
    const best = Math.max(...results.map(({ score }) => score));
    const kept = results.filter(({ score, isName }) => isName || score > best / 5);
    return { terms, sought, results: kept.sort((a, b) => b.isName - a.isName || b.score - a.score).slice(0, MOST) };
  };

  // --- what is shown --------------------------------------------------------------------------------

  /** A text with the sought words marked. */
  const marked = (text, sought) => {
    const parts = [];
    let end = 0;
    for (const { stem, from, to } of words(text)) {
      if (!sought.has(stem)) continue;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, to);
      parts.push(text.slice(end, from), mark);
      end = to;
    }
    return [...parts, text.slice(end)];
  };

  /** The stretch of a text in which most of the sought words stand; it begins with a sentence, if one is near. */
  const excerpt = (text, sought, length = 240) => {
    const hits = words(text).filter(({ stem }) => sought.has(stem));
    const kinds = hits.map(({ from }) =>
      new Set(hits.filter((hit) => hit.from >= from && hit.to < from + length - 60).map(({ stem }) => stem)).size);
    const first = hits[kinds.indexOf(Math.max(...kinds))]?.from ?? 0;
    const sentences = [0, ...[...text.matchAll(/[.?!:] (?=\P{Ll})/gu)].map(({ index }) => index + 2)];
    const begins = sentences.filter((start) => start <= first && start > first - 60).pop()
      ?? text.lastIndexOf(" ", first - 30) + 1;
    const from = sentences.find((start) => start <= begins && start >= text.length - length) ?? begins;
    const to = text.length - from > length ? text.lastIndexOf(" ", from + length) : text.length;
    return `${from > 0 ? "… " : ""}${text.slice(from, to)}${to < text.length ? " …" : ""}`;
  };

  const element = (tag, className, ...inside) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...inside);
    return made;
  };

  const field = document.querySelector(".bd-search-container input[type=search]");
  const summary = element("p", "search-summary");
  summary.setAttribute("role", "status");
  const list = element("ul", "search");
  document.getElementById("search-results").append(summary, list);

  const show = () => {
    const question = field.value.trim();
    const { terms, sought, results } = question ? find(question) : { terms: [], results: [] };
    const count = results.length === 1 ? "One section" : `${results.length || "No"} sections`;
    const others = terms.filter(({ instead }) => instead).map(({ spelt, instead }) =>
      ` The book has no word “${spelt}”${instead.length ? `: ${instead.join(", ")} was looked for` : ""}.`);
    summary.textContent = question ? `${count} for “${question}”.${others.join("")}` : "Write words, or a question.";
    list.replaceChildren(...results.map(({ section: { page, pageTitle, anchor, title, text } }) => {
      const link = element("a", "", ...(title === pageTitle ? [] : [`${pageTitle} › `]), ...marked(title, sought));
      link.href = `${page}#${encodeURIComponent(anchor)}`;
      return element("li", "", link, element("p", "context", ...marked(excerpt(text, sought), sought)));
    }));
  };

  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", () => {
    show();
    try {
      history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`); // who comes back finds the results
    } catch {} // a browser may refuse, from the disk or when it is asked often
  });
  field.focus(); // the theme means to, and takes the first field of the page, in a dialog that is closed
  field.select();
  show();
})();
