"""Bugs of one line in attnlib/widgets/copy_gate.py and attnlib/widgets/copier.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "widgets/copy_gate.py", "test_copy_gate.py",
    ("gate held at every word, asked for one", " if self.everywhere or i == self.step else None", ""),
    ("held gate stays behind when another word is chosen", "and self.p_gen is None and self.output",
     "and self.output"),
    ("one word too many is read", "<= LONGEST:", "<= LONGEST + 1:"),
    ("p_gen above 1", "if not 0 <= number <= 1:", "if not 0 <= number:"),
    ("step one beyond the longest answer", "0, self.max_length - 1)", "0, self.max_length)"),
    ("said and copied swapped", "share >= 0.5", "share < 0.5"),
    ("words of the picture counted from 0", "{self.step + 1}", "{self.step}"),
    ("words that occur twice", "len(set(vocabulary)) < len(vocabulary)", "len(set(vocabulary)) < 0"),
) + of(
    "widgets/copier.py", "test_copy_gate.py",
    ("new word of the source read as the last known one", "ids.masked_fill(ids >= V, unknown)",
     "ids.clamp(max=V - 1)"),
    ("new word read back as padding", "token if token < V else unknown", "token if token < V else 0"),
    ("word that stands twice counts once", "scatter_add(0, ids", "scatter(0, ids"),
    ("copying weighted by p_gen", "F.logsigmoid(-gate) + copied", "F.logsigmoid(gate) + copied"),
    ("state before context", "[alpha @ annotations, state]", "[state, alpha @ annotations]"),
    ("copier of another vocabulary", "if rows != V:", "if rows is None:"),
    ("answer that does not stop at its end", " and token != END", ""),
)
