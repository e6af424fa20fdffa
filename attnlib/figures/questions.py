"""Questions of a figure: each with answers to bet on, before the reader moves anything."""

from collections.abc import Collection, Mapping, Sequence

from attnlib.figures.parameters import whole

MOST = 4  # answers: more are no bet, but a search
PARTS = {"ask", "answers", "right", "because", "show"}


def bet(ask: str, answers: list[str], right: int, because: str, **show) -> dict:
    """One question.

    Args:
        ask: the question.
        answers: two to four.
        right: the number of the right one, from 0.
        because: why it is that one.
        **show: what the figure shows then.

    Example:
        >>> bet("Heads or tails?", ["heads", "tails"], 1, "It fell so.", step=2)["show"]
        {'step': 2}
    """
    return {"ask": ask, "answers": answers, "right": right, "because": because, "show": show}


def checked(given: Sequence, moving: Collection[str]) -> list[dict]:
    """Questions as the page takes them.

    Args:
        given: for each question `ask`, the question in words; `answers`, 2 to 4 different ones; `right`, the number of
            the right one, from 0; `because`, why it is that one; and, if the figure can show it, `show`: the traits
            that it takes then.
        moving: the traits of the figure.

    Returns:
        The same as dictionaries of their own, `show` in every one.

    Raises:
        ValueError: a part that is missing, unknown, empty or of another kind; fewer than two answers, more than four,
            or two alike; a right answer that is not among them; or a trait that the figure does not have.

    Example:
        >>> checked([{"ask": "1 + 1?", "answers": ["1", "2"], "right": 1, "because": "One more than 1 is 2."}], ())
        [{'ask': '1 + 1?', 'answers': ['1', '2'], 'right': 1, 'because': 'One more than 1 is 2.', 'show': {}}]
    """
    return [one_checked(f"question {n + 1}", question, moving) for n, question in enumerate(given)]


def one_checked(name: str, given, moving: Collection[str]) -> dict:
    """One of them, under the name that it has in messages."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} must be a dictionary of {', '.join(sorted(PARTS))}, got {given!r}")
    if wrong := sorted((PARTS - {"show"}) ^ (given.keys() - {"show"})):
        kind = "unknown" if wrong[0] in given else "missing"
        raise ValueError(f"{name}: {wrong[0]!r} is {kind}; its parts are {', '.join(sorted(PARTS))}")
    answers = given["answers"]
    if isinstance(answers, str) or not isinstance(answers, Sequence) or not 2 <= len(answers) <= MOST:
        raise ValueError(f"{name} must have 2..{MOST} answers in a list, got {answers!r}")
    for text in (given["ask"], given["because"], *answers):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name}: ask, because and answers must be texts that say something, got {text!r}")
    if len(set(answers)) < len(answers):
        raise ValueError(f"{name}: its answers must be different, got {answers!r}")
    show = given.get("show") or {}
    if not isinstance(show, Mapping):
        raise ValueError(f"{name}: show must be a dictionary of traits, got {show!r}")
    if strange := [trait for trait in show if trait not in moving]:
        raise ValueError(f"{name}: the figure has no trait {strange[0]!r} to show; it has {', '.join(sorted(moving))}")
    right = whole(f"{name}: right", given["right"], 0, len(answers) - 1)
    return {
        "ask": given["ask"], "answers": list(answers), "right": right, "because": given["because"], "show": dict(show),
    }  # fmt: skip
