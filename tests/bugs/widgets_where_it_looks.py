"""Bugs of one line in attnlib/widgets/where_it_looks.py and pictures.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "widgets/where_it_looks.py", "test_where_it_looks.py",
    ("row and column exchanged", "self.set_trait(\"looks_at\", [y, x]", "self.set_trait(\"looks_at\", [x, y]"),
    ("least looked-at region", "divmod(int(alpha.argmax()), columns)", "divmod(int(alpha.argmin()), columns)"),
    ("step of another image", "self.step = min(self.step, len(self.captions[self.scene]) - 1)", "pass"),
    ("columns for rows", "wanted := (len(words), rows * columns)", "wanted := (len(words), rows * rows)"),
    ("half weights for whole", "> 1.01:", "> 2.01:"),
    ("16 bits refused", "> 1.01:", "> 1.0:"),
    ("look with negative weights", "if alpha.min() < 0:", "if False:"),
    ("weights lose digits", "round(share, 6)", "round(share, 2)"),
    ("captions of one image more", "if len(given) != n:", "if len(given) < n - 1:"),
    ("letters for words", "isinstance(words, str) or ", ""),
    ("box of no width", "box[0] >= box[2]", "box[0] > box[2]"),
    ("one scene too many", '"scene", proposal["value"], 0, len(self.images) - 1)',
     '"scene", proposal["value"], 0, len(self.images))'),
    ("what it is made of can be exchanged", 'fixed(\n        "images", ', 'fixed(\n        '),
    ("wrong words of the other model by the caption", "[wrong_words(*pair) for pair in zip(static, truth,",
     "[wrong_words(*pair) for pair in zip(static, captions,"),
    ("words counted from 0", "f\"word {self.step + 1} of", "f\"word {self.step} of"),
) + of(
    "widgets/pictures.py", "test_where_it_looks.py",
    ("fractions cut off", "np.rint(255 * array)", "255 * array"),
    ("channels in front", "or array.shape[2] != 3", "or array.shape[0] != 3"),
    ("box closed on the right", "left <= x < right", "left <= x <= right"),
    ("box by the corner of the region", "(2 * region[n] + 1)", "(2 * region[n])"),
    ("greedy alignment of words", "elif longest[i, j + 1] >= longest[i + 1, j]:", "elif longest[i, j + 1] > 0:"),
    ("tint of the whole caption", "torch.from_numpy(alpha / alpha.max())", "torch.from_numpy(alpha / 1)"),
    ("frame one region too far", "corner = (x * edges[0], y * edges[1])", "corner = (x * edges[0], y)"),
    ("another word chosen", "chosen = i == figure.step", "chosen = i == 0"),
    ("picture with losses", "file, \"PNG\", optimize=True", "file, \"JPEG\""),
)
