"""Bets about a sentence whose words ask each other: chapter 11."""

from attnlib.figures.questions import bet


def asking() -> list[dict]:
    """The six words of "the lamp fell and it broke"."""
    start = {"model": "", "view": "lines"}
    return [
        bet(
            "“it” gives “lamp” the weight 0.90. What does “lamp” give to “it”?",
            ["0.90, too", "about a half", "next to nothing"], 2,
            "It gives 0.06: one matrix makes the queries and another one the keys, so asking is not being asked.",
            **start | {"step": 1},
        ),
        bet(
            "“the” asks for next to nothing. What is its row like?",
            ["blank", "nearly even", "all of it on itself"], 1,
            "Its scores are all close to 0, and its weights must still add up to 1: they are 0.16 to 0.19.",
            **start | {"step": 0},
        ),
        bet(
            "“fell” and “broke” change places in the sentence. What becomes of the context of “it”?",
            ["nothing: it stays the same", "it holds more of “broke”", "“lamp” loses its weight"], 0,
            "Each word takes its weight and its value along, and a sum has no order. The next section proves it.",
            **start | {"step": 4},
        ),
    ]  # fmt: skip
