"""The search page of the archive, from the disk: what a student asks leads to the section that answers."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_pages import AXE, KNOWN, RUN_AXE, TOO_WIDE
from website.section_search import INDEX, LARGEST

#: A question, and the sections that answer it, below `book/`: one of them is among the first three.
QUESTIONS = {
    "why divide by sqrt d": ["05_score_functions#why-1-sqrt-d", "05_score_functions#sqrt-d-trained"],
    "positional encoding": ["11_self_attention#positions"],
    "mask padding": ["04_masked_softmax#the-problem-on-two-sentences"],
    "bahdanau vs luong": ["07_alignment#two-orders-of-looking"],
    "exploding gradient": ["01_rnn_language_model#it-forgets"],
    "vanishing gradients in rnns": ["01_rnn_language_model#it-forgets"],
    "teacher forcing": ["02_encoder_decoder#teacher-forcing"],
    "exposure bias": ["02_encoder_decoder#what-if-it-reads-its-own-letters"],
    "scheduled sampling": ["02_encoder_decoder#what-if-it-reads-its-own-letters"],
    "beam search length penalty": ["08_decoders#two-corrections"],
    "what is a query key value": ["03_attention_step_by_step#summary", "03_attention_step_by_step#step-1-score"],
    "how does the context vector work": ["03_attention_step_by_step#attention-step-by-step"],
    "What is perplexity?": ["glossary#term-perplexity"],
    "why not fill with a large negative number": ["04_masked_softmax#fill-with-a-large-number"],
    "softmax gives nan when everything is masked": ["04_masked_softmax#fill-with"],
    "dot product vs additive attention cost": ["05_score_functions#what-they-cost"],
    "alignment error rate": ["07_alignment#what-to-measure"],
    "is attention an alignment": [
        "07_alignment#alignment-for-free",
        "07_alignment#experiment-3-right-answers-shifted-alignments",
    ],
    "causal mask": ["06_attention_language_model#it-cannot-see-the-future", "glossary#term-causal-mask"],
    "do more heads have more parameters": ["12_multi_head#what-more-heads-cost"],
    "what does W_o do": ["12_multi_head#what-w-o-does"],
    "copy words that are out of vocabulary": ["10_copy_attention#the-problem-a-word-that-no-vocabulary-holds"],
    "coverage against repeated words": ["10_copy_attention#looking-twice-coverage"],
    "how much memory does attention need": ["09_cost_and_gradients#memory"],
    "can attention explain a prediction": ["14_interpretability#what-explanation-could-mean"],
    "hard attention": ["13_visual_attention#look-at-one-place-only"],
    "why does attention not know word order": ["11_self_attention#it-knows-no-order"],
    "induction head": ["11_self_attention#twice-attention-by-hand", "glossary#term-induction-head"],
    "bidirectional encoder": ["07_alignment#annotations-that-see-both-sides", "glossary#term-bidirectional"],
    "byte pair encoding": ["15_scaling_up#step-1-words-become-pieces"],
    "mixed precision bfloat16": ["15_scaling_up#step-4-sixteen-bits"],
    "sampling with temperature": ["06_attention_language_model#from-probabilities-to-text"],
    "what is BLEU": ["15_scaling_up#step-2-bleu-a-score-that-can-be-trusted"],
    "transformer": ["12_multi_head#the-block-around-it"],
}
#: One letter is missing, wrong, too much, or has changed places with the next.
MISTAKEN = {
    "atention": ["03_attention_step_by_step#attention-step-by-step"],
    "sofmax": ["04_masked_softmax#masked-softmax"],
    "sogtmax": ["04_masked_softmax#masked-softmax"],
    "positonal encoding": ["11_self_attention#positions"],
    "teecher forsing": ["02_encoder_decoder#teacher-forcing"],
    "colverage": ["10_copy_attention#looking-twice-coverage"],
    "preplexity": ["glossary#term-perplexity"],
}


@pytest.fixture
def search(unpacked, visit):
    """Open the search page: `search(theme="dark")`."""
    return lambda **how: visit(unpacked / "pages" / "search.html", **how)


def ask(page: Page, question: str) -> list[str]:
    """Type a question, and read where the results lead, in their order."""
    page.locator("main input[type=search]").fill(question)
    links = page.locator("ul.search > li > a").evaluate_all("links => links.map((a) => a.getAttribute('href'))")
    return [link.removeprefix("book/").replace(".html", "") for link in links]


def test_questions_lead_to_their_sections(search):
    visited = search()
    wrong = {}
    for question, answers in (QUESTIONS | MISTAKEN).items():
        first = ask(visited.page, question)[:3]
        if not set(first) & set(answers) or any(place.startswith("api") for place in first):
            wrong[question] = first
    assert wrong == {}
    assert len(QUESTIONS) >= 30
    assert visited.failed == []


def test_every_answer_is_a_section_of_the_book(unpacked):
    """A section that is renamed is not missed among the answers of a question that has two."""
    for place in {place for answers in (QUESTIONS | MISTAKEN).values() for place in answers}:
        page, anchor = place.split("#")
        assert f'id="{anchor}"' in (unpacked / "pages" / "book" / f"{page}.html").read_text("utf8"), place


def test_a_name_of_the_package_leads_to_the_reference_first(search):
    page = search().page
    assert ask(page, "BahdanauDecoder")[0] == "api_models#attnlib.decoders.BahdanauDecoder"
    found = ask(page, "beam_search")
    assert found[0] == "api_models#attnlib.search.beam_search"
    assert any(place.startswith("08_decoders#") for place in found), "and to where it is taught"


def test_the_reader_is_told_of_a_word_that_the_book_does_not_have(search):
    page = search().page
    ask(page, "sofmax zyzzyva")
    status = page.get_by_role("status")
    expect(status).to_contain_text("no word “sofmax”: softmax was looked for.")
    expect(status).to_contain_text("no word “zyzzyva”.")
    ask(page, "softm")  # not yet a mistake: somebody is writing
    expect(status).to_have_text(re.compile("^[0-9]+ sections for “softm”.$"))


@pytest.mark.parametrize(
    ("theme", "width", "scheme"), [("light", 1280, "file"), ("dark", 375, "file"), ("light", 375, "http")]
)
def test_a_result_has_titles_and_an_excerpt_with_the_words_marked(theme, width, scheme, search, visit):
    how = {"theme": theme, "width": width, "scheme": scheme}
    visited = search(**how) if scheme == "file" else visit("search.html", **how)
    page = visited.page
    page.goto(f"{page.url}?q=teacher+forcing")
    expect(page.get_by_role("status")).to_contain_text("sections for “teacher forcing”")
    result = page.locator("ul.search > li").first
    expect(result.get_by_role("link")).to_have_text("2 · Encoder and decoder › Teacher forcing")
    expect(result.locator("a mark")).to_have_text(["Teacher", "forcing"])
    excerpt = result.locator("p.context")
    assert 80 < len(excerpt.inner_text()) < 260
    assert {"teacher", "forcing"} <= {mark.lower() for mark in excerpt.locator("mark").all_inner_texts()}

    assert page.evaluate(TOO_WIDE) == ""
    page.evaluate(AXE)
    assert page.evaluate(RUN_AXE, KNOWN) == []
    assert visited.failed == []


def test_by_keyboard_from_any_page_to_a_section_and_back(unpacked, visit):
    visited = visit(unpacked / "pages" / "book" / "09_cost_and_gradients.html")
    page = visited.page
    page.keyboard.press("Control+k")
    page.keyboard.type("positional encoding")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=positional+encoding*")
    expect(page.locator("main input[type=search]")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" sinusoidal")
    expect(page.get_by_role("status")).to_contain_text("“positional encoding sinusoidal”")
    page.keyboard.press("Tab")
    expect(page.locator("ul.search a").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/11_self_attention.html#positions")
    expect(page.locator("#positions h2")).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_role("status")).to_contain_text("“positional encoding sinusoidal”")
    assert visited.failed == []


NO_QUESTIONS = ["", "   ", "?!…", "__proto__ constructor toString", "\\ ( [ * +", "%", "a" * 5000]


@pytest.mark.parametrize("question", [*NO_QUESTIONS, "<img src=x onerror=document.title='hit'>"])
def test_nothing_that_is_asked_does_harm(question, search):
    page = search().page
    before = page.title()
    ask(page, question)
    status = page.get_by_role("status")
    if question.strip():
        assert f"“{question.strip()}”" in status.text_content()
    else:
        expect(status).to_have_text("Write words, or a question.")
        assert page.locator("ul.search > li").count() == 0
    page.reload()  # the question stands in the address now
    expect(page.locator("main input[type=search]")).to_have_value(question)
    assert page.locator("#search-results img").count() == 0
    assert page.title() == before
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate(TOO_WIDE) == ""


def test_the_magnifier_leaves_the_text_alone(search, visit, unpacked):
    def overlaps(form):
        icon, field = form.locator("i").bounding_box(), form.locator("input").bounding_box()
        return icon["x"] + icon["width"] > field["x"]

    assert not overlaps(search().page.locator("main form.bd-search"))
    page = visit(unpacked / "pages" / "book" / "glossary.html").page
    page.keyboard.press("Control+k")
    assert not overlaps(page.locator("dialog form.bd-search"))


def test_the_index_is_light(unpacked):
    pages = unpacked / "pages"
    assert not (pages / "searchindex.js").exists()
    assert 100_000 < (pages / INDEX).stat().st_size <= LARGEST == 600_000
