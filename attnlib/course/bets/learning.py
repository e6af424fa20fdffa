"""Bets about models that learn in the page, chapters 2, 7 and 11: what they do from the figure's first seed.

A small screen trains a smaller model, and the answers are those of both.
"""

from attnlib.figures.questions import bet


def one_vector() -> list[dict]:
    """Chapter 2: a model that has one vector of a sentence, and one that may look back at it."""
    start = {"task": "reverse", "models": ["none", "additive"], "longest": 8, "seed": 0, "rate": 0.01, "mask": True}
    return [
        bet(
            "One model hands over one vector, the other may look back. After 200 steps, who writes more words right?",
            ["the one with one vector", "the one that looks back", "about the same"], 1,
            "Three to eight letters must fit into one vector. The other reads each letter again when it is wanted.",
            **start | {"until": 200},
        ),
        bet(
            "Now four letters at most. How does the model with one vector fare in 300 steps?",
            ["as well as the other", "it learns, but later", "it writes no word right"], 1,
            "Four letters fit. But packing and unpacking them is hard to learn, and looking them up is not.",
            **start | {"longest": 4, "until": 300},
        ),
        bet(
            "Copying instead of writing backwards: what becomes of the model with one vector in 300 steps?",
            ["it does much better", "it does no better", "it catches up with the other"], 1,
            "Copying wants the letter first that was read first, the oldest in the vector; backwards, the freshest.",
            **start | {"task": "copy", "until": 300},
        ),
    ]  # fmt: skip


def born() -> list[dict]:
    """Chapter 7: nobody says where to look."""
    start = {
        "task": "reverse", "models": ["additive", "general"], "longest": 8, "seed": 0, "rate": 0.01, "mask": True,
    }  # fmt: skip
    return [
        bet(
            "Nobody says where to look. After 200 steps, how often is the largest weight on the right letter?",
            ["one time in eight: chance", "about half of the time", "most of the time"], 2,
            "The loss asks for letters alone. A weight on the right one makes it smaller: alignment comes for free.",
            **start | {"until": 200},
        ),
        bet(
            "The mask is off, so padding can be looked at. Do the models still learn where to look?",
            ["no: padding is in every context", "yes: they learn to look away", "only for the longest words"], 1,
            "An annotation of padding is 0: easy to tell, and of no use. But what is learned is no guarantee.",
            **start | {"mask": False, "until": 200},
        ),
        bet(
            "Dot or scaled dot, 200 steps: who writes more words right? (The model is small.)",
            ["dot", "scaled dot", "about the same"], 0,
            "Small vectors have small scores. Divided by √d, they hardly tell places apart, and learning starts late.",
            **start | {"models": ["dot", "scaled dot"], "until": 200},
        ),
    ]  # fmt: skip


def order() -> list[dict]:
    """Chapter 11: self-attention with positions and without."""
    models = ["self-attention", "self-attention, no positions"]
    start = {"task": "reverse", "models": models, "longest": 8, "seed": 0, "rate": 0.01, "mask": True}
    return [
        bet(
            "Two encoders of self-attention, one without positions. After 200 steps, who writes more words backwards?",
            ["the one with positions", "the one without: it has less to learn", "about the same"], 0,
            "Without positions the annotations are a bag: nothing in them says which letter was the last.",
            **start | {"until": 200},
        ),
        bet(
            "And what does the one without positions write?",
            ["letters of the whole alphabet", "the word as it is", "letters of the word, in a wrong order"], 2,
            "A bag tells which letters there are. It does not tell their order, and hardly how many there are.",
            **start | {"until": 200},
        ),
        bet(
            "Now the letters are to be sorted. Does the one without positions fail again?",
            ["yes, it writes no word right", "no, it learns this, too", "it is twice as good as the other"], 1,
            "Sorting asks which letters there are, and never where they stood. For that a bag is enough.",
            **start | {"task": "sort", "until": 200},
        ),
    ]  # fmt: skip
