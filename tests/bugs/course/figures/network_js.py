"""Bugs of one line in attnlib/course/figures/static/network.js."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/figures/static/network.js", "course/figures/test_weights.py",
    ("page's weights: eight bits without a sign", "view.getInt8(n)", "view.getUint8(n)"),
    ("page's weights: scale forgotten", "view.getInt8(n) * scale", "view.getInt8(n)"),
    ("page's weights: big-endian", "getUint16(2 * n, true)", "getUint16(2 * n)"),
)
