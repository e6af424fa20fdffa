"""Bets about what a recurrent model keeps, and where its decoder looks: chapters 1, 7, 8 and 10, and the translator."""

from attnlib.figures.questions import bet


def forgetting(text: str) -> list[dict]:
    """Chapter 1: an RNN that reads a text twice.

    Args:
        text: what it reads, with a queen as its second word.
    """
    start = {"text": text, "word": 1, "becomes": "king", "logarithmic": False}
    return [
        bet(
            "Now “queen” becomes “mightiest emperor”, longer and rarer. How long does the difference last?",
            ["three times as long", "about as long", "to the end of the text"], 1,
            "What is read after the word overwrites the state, and that is the same, whatever the word was.",
            **start | {"becomes": "mightiest emperor"},
        ),
        bet(
            "The bars become logarithmic: six powers of ten. What shape does the fall have then?",
            ["nearly a straight line", "it levels off: a rest is kept", "steps, one at every blank"], 0,
            "Each character leaves about the same share of what was left before it. That is an exponential.",
            **start | {"logarithmic": True},
        ),
        bet(
            "The text is cut off one blank after “queen”. How much of the guess does “king” move there?",
            ["less than 0.1 %", "nearly all of it", "about 14 %"], 2,
            "A third of the difference is left in the state, but what begins a word depends little on the word before.",
            **start | {"text": text[: text.index("queen") + len("queen ")]},
        ),
    ]  # fmt: skip


def alignment() -> list[dict]:
    """Chapter 7: where two models look as they write a date."""
    start = {"model": "", "view": "grid", "show_gold": True}
    return [
        bet(
            "Both write the second digit of the month, the 3 of 03. Where do they look?",
            ["at mars", "at 14", "at 2024"], 0,
            "The 3 stands nowhere in the source: it has to be read from the name of the month.",
            **start | {"step": 6},
        ),
        bet(
            "The first hyphen comes from no character. Where does its row look?",
            ["nowhere: its weights are 0", "evenly at all", "at what was just read or comes next"], 2,
            "The weights add up to 1, so it must look somewhere: one model is still at the year, one at the month.",
            **start | {"step": 4},
        ),
        bet(
            "In the rows of the year a model looks evenly at the digits of 2024. What is its share on gold links?",
            ["1.00", "0.50", "0.25"], 0,
            "Each of these rows is linked with all four digits: the share knows the right field, not the right digit.",
            **start | {"step": 0},
        ),
    ]  # fmt: skip


def surgery(source: str) -> list[dict]:
    """Chapter 7: a translator whose weights are painted over.

    Args:
        source: the date that it reads, in 18 characters.
    """

    def on(step: int, place: int) -> dict:
        weights = [float(j == place) for j in range(len(source))]
        return {"text": source, "edits": {str(step): weights}, "step": step, "place": place, "shown": None}

    return [
        bet(
            "Step 10 writes the 4 of 14. All of its weight goes to the 2 of 2024. What is written?",
            ["4: it knows the day", "2: what it looks at", "the end, <eos>"], 1,
            "It writes what it is shown. Here the weights are a cause, and not only a picture.", **on(9, 14),
        ),
        bet(
            "Step 5 writes a hyphen. All of its weight goes to the last 4. What is written?",
            ["4", "a hyphen"], 1,
            "The state knows that a hyphen is due, so the weights of that row decide nothing, faint or dark.",
            **on(4, 17),
        ),
        bet(
            "Step 6 writes the 0 of month 03. All of its weight goes to the d of jeudi. Which date comes out?",
            ["2024-03-14, as before", "2024-13-14, with a wrong digit", "one of another month"], 2,
            "The d makes it write a 1, and after that 1 no 3: it reads its own output, and knows the months.",
            **on(5, 3),
        ),
    ]  # fmt: skip


def late() -> list[dict]:
    """Chapter 8: two decoders, two targets, four grids."""
    start = {"model": "", "view": "grid", "show_gold": True}
    return [
        bet(
            "The targets differ in their first word. Which grids know in step 2 what it was?",
            ["all four", "those of the new state", "those of the last state"], 1,
            "The query of the last state is older than the first word: its row 2 is the same after “b” and after “d”.",
            **start | {"step": 1},
        ),
        bet(
            "And in step 3: do the two grids of the last state still agree?",
            ["yes", "no"], 1,
            "By now the state has read the first word. It is late by one step, and not blind.", **start | {"step": 2},
        ),
        bet(
            "A third target begins with “c”. What is row 2 of its last state like?",
            ["on d, which comes after c", "like row 2 in the two grids that are shown", "even"], 1,
            "No first word of any target is in that query, so the row is the same for all targets of this source.",
            **start | {"step": 1},
        ),
    ]  # fmt: skip


def gate(request: str) -> list[dict]:
    """Chapter 10: a copier whose p_gen is held; it reads a request with two names that it does not know."""
    start = {"text": request, "step": 0, "everywhere": False}
    return [
        bet(
            "p_gen is held at 1 at every word: it may only say. What becomes of the two names?",
            ["both are lost", "they are spelled <unk>", "nothing: it knows them by now"], 0,
            "A word that is not in the vocabulary has no probability to be said. What is said fits without them.",
            **start | {"p_gen": 1.0, "everywhere": True},
        ),
        bet(
            "p_gen is held at 0 at every word: it may only copy. How does the answer end?",
            ["after the last name", "at once", "never"], 2,
            "The end, <eos>, is not in the request, so it cannot be copied. It goes on until it is cut off.",
            **start | {"p_gen": 0.0, "everywhere": True},
        ),
        bet(
            "p_gen is held at 1 at the first word only, where “Ottilie” is due. Is she lost?",
            ["yes, for good", "“Bartek” takes her place", "no, she comes one word later"], 2,
            "It says “so”, a word that may begin an answer, and the next query points at her again: it recovers.",
            **start | {"p_gen": 1.0},
        ),
    ]  # fmt: skip


def translating(text: str, unseen: str) -> list[dict]:
    """The translator in the page. What is asked is so for any model with Bahdanau's decoder.

    Args:
        text: what it reads.
        unseen: a sentence with a word that training never had, of letters that it had.
    """
    start = {"text": text, "edits": {}, "step": 0, "place": 0, "shown": None, "beams": 1}
    return [
        bet(
            f"Next: “{unseen}”. One of its words never occurred in training. What is read in its place?",
            ["<unk>", "several pieces of it", "the nearest known word"], 1,
            "Pieces spell every word of known characters. <unk> is read only for a character that training never had.",
            **start | {"text": unseen},
        ),
        bet(
            "You overrule the weights of a step, and it writes the same piece. Can later steps notice?",
            ["no: only the piece is handed on", "yes: the state is made from the context"], 1,
            "Bahdanau's s_i takes c_i in. With Luong's decoder, only the piece written would tell later steps.",
            **start | {"step": 1},
        ),
        bet(
            "May the best of 5 beams be less probable, as a whole, than the greedy translation?",
            ["no: a beam finds what greedy finds, and more", "yes", "only if it is shorter"], 1,
            "Length is allowed for: a longer one may win with a lower log P, and greedy's own may leave the beam.",
            **start | {"beams": 5},
        ),
    ]  # fmt: skip
