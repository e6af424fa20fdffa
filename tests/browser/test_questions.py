"""The card of a figure that asks: a bet, the answer in words, the next question."""

import pytest
from playwright.sync_api import expect

from attnlib.figures import CostCurve

QUESTIONS = [
    {"ask": "1 + 1?", "answers": ["1", "2", "3"], "right": 1, "because": "One more than 1.", "show": {"S": 1}},
    {"ask": "<b>2 + 2?</b>", "answers": ["4", "5"], "right": 0, "because": "Two twos."},
]


@pytest.fixture
def card(mounted):
    costs = {"numbers": {"one": {"part": [(1, {"S": 1})]}, "two": {"part": [(2, {"S": 1})]}}}
    return mounted(CostCurve(costs, questions=QUESTIONS)).page.locator(".attn-question")


def test_a_wrong_bet_is_told_what_is_right_and_why(card):
    first, right, other = card.locator(".attn-answers").first.get_by_role("button").all()
    verdict = card.get_by_role("status")  # there from the start, or it would not be read out
    expect(verdict).to_be_empty()
    expect(card.get_by_role("button", name="Next question")).to_be_hidden()
    first.click()
    expect(verdict).to_have_text("No: 2. One more than 1.")
    expect(first).to_have_text("✗ 1")
    expect(right).to_have_text("✓ 2")
    expect(other).to_have_text("3")
    assert [one.get_attribute("aria-pressed") for one in (first, right, other)] == ["true", "false", "false"]
    right.dispatch_event("click")  # a bet is a bet
    expect(verdict).to_have_text("No: 2. One more than 1.")
    assert first.get_attribute("aria-disabled") == "true"


def test_the_keyboard_goes_through_all_questions_and_the_bets_are_counted(card):
    page = card.page
    ask = card.locator(".attn-ask")
    card.get_by_role("button", name="2", exact=True).focus()
    page.keyboard.press("Enter")
    card.get_by_role("button", name="Next question").focus()
    page.keyboard.press("Enter")
    expect(ask).to_be_focused()  # and a screen reader reads it
    expect(ask).to_have_text("2/2 <b>2 + 2?</b>")
    assert card.get_attribute("aria-label") == "question 2 of 2"
    expect(card.get_by_role("status")).to_be_empty()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(card.get_by_role("status")).to_have_text("No: 4. Two twos. You won 1 of 2 bets.")
    expect(card.get_by_role("button", name="Show me")).to_be_hidden()  # this one has nothing to show
    card.get_by_role("button", name="Start over").press("Enter")
    expect(ask).to_have_text("1/2 1 + 1?")
    card.get_by_role("button", name="3", exact=True).click()
    card.get_by_role("button", name="Next question").click()
    card.get_by_role("button", name="4", exact=True).click()
    expect(card.get_by_role("status")).to_have_text("Right. Two twos. You won 1 of 2 bets.")


def test_a_figure_without_questions_has_no_card(mounted):
    page = mounted(CostCurve({"numbers": {"one": {"part": [(1, {"S": 1})]}}})).page
    expect(page.locator(".attn-question")).to_be_hidden()
