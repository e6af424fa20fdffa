"""Bugs of one line in attnlib/course/bets/weights.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/bets/weights.py", "course/test_bets.py",
    ("the query is turned", '{"query": [3.0, 0.4]}', '{"query": [3.0, -0.4]}'),
    ("two words are hidden", '{"valid_length": 5}', '{"valid_length": 4}'),
    ("padding below the scores", '"offset": -1e4, "row": 1', '"offset": -1e3, "row": 1'),
    ("another format shown", '"precision": "bfloat16", "offset"', '"precision": "float16", "offset"'),
    ("another width shown", '"S": 1536, "d": 256', '"S": 1536, "d": 512'),
    ("both lengths grow", '"axis": "S", "S": 32768', '"axis": "S=T", "S": 32768'),
    ("asks for the same key again", '{"text": row[:-1] + other}', '{"text": row}'),
    ("superb keeps too little", "0.483, 0.517", "0.4, 0.6"),
    ("west stays where it was", '[2.0, 0.0], [0.7, 0.6]]},', '[-2.0, 0.0], [0.7, 0.6]]},'),
)
