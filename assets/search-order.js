// Sphinx's search: chapters, which teach a thing, come before the reference, which lists it. Sphinx asks for all of it.
var Scorer = {
  score: ([page, , , , score]) => (/\/api(_|$)/.test(page) ? score - 100 : score),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
