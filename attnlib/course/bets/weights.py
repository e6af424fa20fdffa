"""Bets about weights: scores, masks, costs, heads, pictures and explanations, chapters 3 to 6, 9 and 12 to 14."""

from attnlib.figures.questions import bet


def plane() -> list[dict]:
    """Chapter 3: a query and six keys."""
    start = {"score": "dot", "temperature": 1.0, "valid_length": 6, "query": [1.5, 0.2]}
    return [
        bet(
            "“money” has a weight of 0.55. Now q becomes twice as long. What happens to that weight?",
            ["it doubles", "it stays: only the direction counts", "it grows to 0.77"], 2,
            "Every score doubles, and so does every difference of scores: the winner takes more, and the sum stays 1.",
            **start | {"query": [3.0, 0.4]},
        ),
        bet(
            "The last word, “money”, is hidden. Who gets its weight?",
            ["the runner-up alone", "all others, in proportion", "all others, the same to each"], 1,
            "The exp of the others stay, only their sum is smaller: each weight is multiplied by the same 2.2.",
            **start | {"valid_length": 5},
        ),
        bet(
            "q is dragged to (0, 0), so every score is 0. Where is the context c?",
            ["at (0, 0), too", "at the mean of all keys", "there is none"], 1,
            "Equal scores are equal weights, 1/6 each, and not 0: who asks nothing is given the mean of everything.",
            **start | {"query": [0.0, 0.0]},
        ),
    ]  # fmt: skip


def masks() -> list[dict]:
    """Chapter 4: three rows and a softmax that may be wrong."""
    start = {"fill": "-1e9", "precision": "float32", "shift": True, "scale": 1.0, "offset": 0.0, "lengths": [6, 3, 0]}
    return [
        bet(
            "Row 3 is all padding. It is filled with −∞ instead of −10⁹. What are its weights then?",
            ["0, as they should be", "1/6 each, as now", "NaN"], 2,
            "The largest score is −∞, and −∞ − (−∞) is NaN. No weight of that row can be saved after that.",
            **start | {"fill": "-inf", "row": 2},
        ),
        bet(
            "Every score is 10,000 lower, and padding is filled with −10⁴. How much does row 2 give to padding?",
            ["nothing", "a fifth", "everything"], 1,
            "The fill is no longer far below the scores. It is a score like the others, in each of three places.",
            **start | {"fill": "-1e4", "offset": -1e4, "row": 1},
        ),
        bet(
            "200 is added to all scores, which changes no softmax. In which format does row 1 come out wrong?",
            ["float16", "bfloat16", "both", "neither"], 1,
            "Between 128 and 256 bfloat16 has whole numbers only: 2.0 and 2.4 become equal. float16 has steps of 1/8.",
            **start | {"fill": "ours", "precision": "bfloat16", "offset": 200.0, "row": 0},
        ),
    ]  # fmt: skip


def compass() -> list[dict]:
    """Chapter 5: four words around a fifth, which points as the query does and is shorter."""
    start = {
        "score": "dot", "temperature": 1.0, "valid_length": 5, "query": [1.1, 1.0],
        "key": [[0.0, 2.0], [2.0, 0.0], [0.0, -2.0], [-2.0, 0.0], [0.7, 0.6]],
    }  # fmt: skip
    return [
        bet(
            "“inside” points nearly as q does, but “east” is longer and wins. Who wins when the score is cosine?",
            ["still “east”", "“inside”", "nobody: 0.20 each"], 1,
            "Cosine divides by both lengths. Only the direction is left to count, and there “inside” is the nearest.",
            **start | {"score": "cosine"},
        ),
        bet(
            "q = (0, 0) asks for nothing, and the dot product gives 0.20 to each word. What does additive give?",
            ["0.20 to each, too", "0 to each", "0.58 to “north”"], 2,
            "Inside its tanh the key stands beside the query. Without a query, the key alone still makes a score.",
            **start | {"score": "additive", "query": [0.0, 0.0]},
        ),
        bet(
            "With location as the score, “west” has 0.53. Its key moves to where “east” is. What is its weight then?",
            ["0.53, as before", "that of “east”, 0.02", "half of 0.55: they share"], 0,
            "Location asks for a place in the sentence and never reads a key: the fourth word stays the fourth.",
            **start | {"score": "location", "key": [[0.0, 2.0], [2.0, 0.0], [0.0, -2.0], [2.0, 0.0], [0.7, 0.6]]},
        ),
    ]  # fmt: skip


def looking(row: str, other: str, missing: str) -> list[dict]:
    """Chapter 6: a language model that looks for a digit.

    Args:
        row: what it reads; its last character is the key that is asked for.
        other: the other key of the row.
        missing: a key that is not in it.
    """
    end = {"position": 63}
    return [
        bet(
            f"Next it reads the last “{row[-1]}”. Over which earlier character will the largest bar stand?",
            [f"the same key, “{row[-1]}”", "the digit after that key", "the “?” just before"], 1,
            "The state after the digit has read the key as well: it matches the question, and it brings the answer.",
            **end | {"text": row},
        ),
        bet(
            f"The row asks for “{other}” instead. What becomes different?",
            ["only the answer", "only the bars", "the bars and the answer"], 2,
            "The state after the last key is the query. Another query finds another digit.",
            **end | {"text": row[:-1] + other},
        ),
        bet(
            f"The row asks for “{missing}”, which stands nowhere in it. What does the model answer?",
            ["one of the two digits, quite surely", "any digit, each as likely", "a letter"], 0,
            "The weights add up to 1, so it looks somewhere; and nothing has taught it to say that it does not know.",
            **end | {"text": row[:-1] + missing},
        ),
    ]  # fmt: skip


def costs() -> list[dict]:
    """Chapter 9: multiply-adds of the recurrence and of the scores."""
    start = {"quantity": "multiply-adds", "log": True, "T": 50, "d": 512}
    return [
        bet(
            "S = T = 50. Additive attention projects its keys once. What if it did so at every step?",
            ["twice the cost", "5 times", "more than 20 times"], 2,
            "A key is then projected 50 times, and the projections are nearly all of the cost: 23 times as much.",
            **start | {"axis": "S=T", "S": 50},
        ),
        bet(
            "At width 512, dot costs more than the recurrence beyond 3,072 words. And at width 256?",
            ["beyond 1,536", "beyond 3,072, too", "beyond 6,144"], 0,
            "The recurrence has 12 S d² and dot has 2 S² d: they are equal at S = 6 d.",
            **start | {"axis": "S=T", "S": 1536, "d": 256},
        ),
        bet(
            "Only the source grows, and the target stays at 50 words. From which length on does dot cost more?",
            ["3,072 words", "61,440 words", "it never does"], 2,
            "Both are now straight lines in S, 100 S d against 6 S d², and the recurrence has the steeper one.",
            **start | {"axis": "S", "S": 32768},
        ),
    ]  # fmt: skip


def heads(line: int) -> list[dict]:
    """Chapter 12: heads that are switched off; of two, number `line` has the line below the diagonal."""
    return [
        bet(
            "Two heads. The one with the line below the diagonal is switched off. Which task goes with it?",
            ["previous", "first", "both"], 0,
            "That line is the look at the token before. The other head still looks at the first one.",
            model="2 heads", off=[line],
        ),
        bet(
            "And what does the model answer to “previous” then?",
            ["the token itself", "the same token at every position", "something new at every position"], 1,
            "The head now brings the mean of all values, which is the same everywhere: one answer for the whole row.",
            model="2 heads", off=[line],
        ),
        bet(
            "Both heads are off. Is every answer wrong?",
            ["yes, in both tasks", "no, in neither task"], 1,
            "One answer for the whole row is still right where that token happens to be the one that was asked for.",
            model="2 heads", off=[0, 1],
        ),
    ]  # fmt: skip


def captions(early: int, caption: tuple[str, ...], odd: tuple[str, ...], noun: int) -> list[dict]:
    """Chapter 13: where a captioner looks.

    Args:
        early: an image, from 0, in which the third word of the caption looks at the second thing.
        caption: its caption.
        odd: the caption of image 6, which is written rightly.
        noun: a word of it, from 0, that looks outside the box of its thing.
    """
    return [
        bet(
            f"Image {early + 1}: “{caption[2]}” names no thing. Where does the model look while it writes it?",
            [f"back at the {caption[1]}", f"already at the {caption[-1]}", "at the paper between them"], 1,
            "To write “left” and not “above” it must know where the second thing is.",
            scene=early, step=2, show_boxes=False,
        ),
        bet(
            f"Image 6: every word is right. Does “{odd[noun]}” look most at a region inside the box of its thing?",
            ["yes", "no, beside it"], 1,
            "The centre of that region lies outside the box. A right word is no proof of a right look.",
            scene=5, step=noun, show_boxes=True,
        ),
        bet(
            "The other model has one vector and looks nowhere. What does it get right most often in the eight images?",
            ["the things", "how they lie to each other", "nothing"], 1,
            "One vector holds the layout, and not what the things are.",
            scene=1, step=2, show_boxes=False,
        ),
    ]  # fmt: skip


def film() -> list[dict]:
    """Chapter 14: two texts of five words, and votes that were made up."""
    even = [0.2] * 5
    return [
        bet(
            "“a superb and witty film”: now all five words count the same. What does the model say?",
            ["praise, a little less sure", "neither praise nor blame", "blame"], 0,
            "Two of five words vote 6, so z falls from 6 to 2.4. But σ is flat up there: p falls by 0.08 only.",
            text=0, edits={"0": even},
        ),
        bet(
            "And “a superb but noisy film”, all words counting the same?",
            ["praise, a little less sure", "neither praise nor blame", "blame"], 1,
            "The votes of “superb” and of “noisy” are 6 and −6: where both count the same, nothing is left.",
            text=1, edits={"1": even},
        ),
        bet(
            "The second text again. How much of its weight can “superb” lose before p has fallen by 0.05?",
            ["a twentieth", "a quarter", "half"], 2,
            "Its rest of 0.48 still makes z = 2.9 and p = 0.95, if all that it loses goes to a word without a vote.",
            text=1, edits={"1": [0.0, 0.483, 0.517, 0.0, 0.0]},
        ),
    ]  # fmt: skip
