"""Answers that lie about what they return, or break the rules of the calls. None earns what it does not do.

They are answers to questions 1 to 3 of assignment 4, and run in a process of their own without a box: what the box
prevents is in `hostile`. `@MODEL@` stands for the right body of question 1.
"""

from attnlib.grading.answers import AGREEABLE

#: What a reply of one's own may look like; each connection sends the next one.
FORGED = """
import itertools, json, socket, struct
def frame(header, body=b"", sizes=None):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(">QQ", *(sizes or (len(header), len(body)))) + header + body
turn = itertools.count()
NAME = frame({"value": ["mine", 1, "c", "function"], "arrays": []})
REPLIES = [@REPLIES@]
def forge(connection):
    reply = REPLIES[next(turn) % len(REPLIES)]
    connection.sendall(NAME)
    try:
        while connection.recv(1 << 16):
            connection.sendall(reply)
    except OSError:
        pass
SERVE = forge
"""


def forged(*replies: str) -> str:
    """A hand-in that answers the grader itself."""
    return FORGED.replace("@REPLIES@", ", ".join(replies))


def q1(body: str, before: str = "") -> str:
    """An answer to question 1."""
    return f"{before}\ndef masked_softmax(scores, mask):\n    {body}\n"


#: A right answer to question 1, to be spoilt.
MODEL = "torch.where(hidden, 0.0, scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num(0.0))"

#: `{name: source}`: each must get nothing of questions 1 to 3.
LIARS = {
    # values that are none
    "equal to everything": f"{AGREEABLE}\n" + q1("return Agreeable()"),
    "a tensor that agrees": q1(
        "return torch.zeros_like(scores).as_subclass(Yes)",
        "class Yes(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, function, types, args=(), kwargs=None):\n"
        "        return True\n",
    ),
    "a parameter of nothing": q1("return torch.nn.Parameter(scores)"),
    "a number that agrees": q1("return Yes(1)", "class Yes(int):\n    __eq__ = __bool__ = lambda *a: True\n"),
    "a list that agrees": q1(
        "return Yes([1])", "class Yes(list):\n    __eq__ = lambda *a: True\n    __len__ = lambda s: 0\n"
    ),
    "a type that says Tensor": q1("return Tensor()", "class Tensor:\n    shape, dtype = (1, 2, 4), torch.float32\n"),
    "a name that is code": q1("return type('x();import os', (), {})()"),
    "a pickle": q1("return P()", "class P:\n    def __reduce__(self): return exec, ('1/0',)\n"),
    "a module": q1("return torch"),
    "the grader's own input": q1("return scores"),
    "NaN": q1("return scores * float('nan')"),
    "another NaN": q1("return torch.full(scores.shape, 0x7fc12345, dtype=torch.int32).view(torch.float32)"),
    "infinity": q1("return scores + float('inf')"),
    "no numbers": q1("return torch.empty(0)"),
    "too many numbers": q1("return torch.zeros(1 << 28)"),
    "numbers that take no place": q1("return torch.zeros(1).expand(1 << 40)"),
    "a sparse tensor": q1("return torch.zeros_like(scores).to_sparse()"),
    "a tensor without data": q1("return torch.zeros(scores.shape, device='meta')"),
    "a list in itself": q1("l = []; l.append(l); return l"),
    "a list in lists": q1("l = []\n    for _ in range(5000): l = [l]\n    return l"),
    "a long number": q1("return 10 ** 100_000"),
    "an endless stream": q1("return iter(int, 1)"),
    "itself": q1("return masked_softmax"),
    # errors
    "an assertion": q1("assert False, 'q1_axis: 1 point'"),
    "a limit": q1("raise TimeoutError"),
    "the end of a stream": q1("raise StopIteration"),
    "an exit": q1("raise SystemExit(0)"),
    "an interrupt": q1("raise KeyboardInterrupt"),
    "an error without words": q1(
        "raise Bad",
        "class Bad(Exception):\n    __str__ = __repr__ = lambda self: 1 / 0\n    args = property(__str__)\n",
    ),
    "a megabyte of words": q1("raise ValueError('x' * 10**6)"),
    "no end of calls": q1("return masked_softmax(scores, mask)"),
    # time
    "slower each time": q1(f"import time; time.sleep(0.8); hidden = mask; return {MODEL}"),
    "an endless loop": q1("while True: pass"),
    # what it compares with
    "patches of its own torch": q1(
        "return scores", "torch.allclose = torch.equal = torch.Tensor.__eq__ = lambda *a, **k: True\n"
    ),
    "patches of its own Python": q1(
        "return scores",
        "import builtins\nbuiltins.abs = builtins.max = lambda *a, **k: 0\nbuiltins.all = lambda x: True\n",
    ),
    "patches of its own asserts": q1(
        "return scores",
        "from attnlib.course import asserts\nasserts.close = lambda *a, **k: None\nasserts.same = lambda *a: True\n",
    ),
    "inputs that it has changed": "def streamed_context(chunks):\n"
    "    for scores, values in chunks:\n"
    "        values.zero_(); out = torch.zeros(scores.shape[0], scores.shape[1], values.shape[2])\n"
    "    return out\n",
    "inputs that it has resized": q1("scores.resize_(0); mask.resize_(0); return torch.zeros(0)"),
    "right once": q1(f"calls.append(1); hidden = mask; return {MODEL} if len(calls) == 1 else scores", "calls = []\n"),
    "right for what everybody sees": q1(
        f"hidden = mask; return {MODEL} if scores.numel() in (3, 6, 8) and scores.shape[0] == 1 else scores"
    ),
    "guesses what is drawn": q1(
        "return torch.randn(scores.shape, generator=drawn(21))", "from attnlib.course.asserts import drawn\n"
    ),
    # it uses what it was given in other ways
    "another's functions by number": "def streamed_context(chunks):\n"
    "    found = []\n"
    "    for number in range(99):\n"
    "        for how in ('call', 'next', 'iter', '__class__', 'op'):\n"
    "            try: found.append(chunks._peer.call(number, (), {}, how))\n"
    "            except Exception: pass\n"
    "    return found\n",
    "a stream read for ever": "def streamed_context(chunks):\n    while True:\n        next(iter(chunks), None)\n",
    "what the connection knows": "def streamed_context(chunks):\n"
    "    import gc\n"
    "    peers = [x for x in gc.get_objects() if type(x).__name__ == 'Peer']\n"
    "    return [getattr(p, 'graphs', None) for p in peers]\n",
    # it answers itself
    "no messages": forged("b''", "b'\\0' * 5", "frame(b'{')", "frame(b'\\xff' * 99)", "frame({})", "frame([1])"),
    "sizes": forged("frame(b'{}', sizes=(1 << 62, 0))", "frame(b'{}', sizes=(2, 1 << 62))", "frame(b'', sizes=(0, 0))"),
    "depth": forged("frame(b'[' * 100_000)", "frame(b'{\"value\":' + b'[\"list\",[' * 300 + b']]' * 300 + b'}')"),
    "shapes": forged(
        *(
            f"frame({{'value': ['tensor', 0], 'arrays': [['float32', {shape}, {strides}, {grad}, 8]]}}, b'12345678')"
            for shape, strides, grad in (
                ("[3]", "[1]", 0),
                ("[-2]", "[1]", 0),
                ("[1 << 40]", "[0]", 0),
                ("[2]", "[1]", 1),
                ("[2, 1]", "[1]", 0),
                ("'2'", "[1]", 0),
            )
        )
    ),
    "objects of nobody": forged(
        "frame({'value': ['yours', 0]})",
        "frame({'value': ['yours', 1]})",
        "frame({'value': ['mine', 1, 'cni', 'Tensor']})",
    ),
    "calls of nobody": forged(
        "frame({'op': 'call', 'object': 0, 'value': None})",
        "frame({'op': 'call', 'object': '__class__', 'value': ['list', [['list', []], ['dict', []]]]})",
        "frame({'op': 'backward', 'call': 1, 'value': ['list', []]})",
        "frame({'op': 'end'})",
    ),
    "calls for ever": forged(
        "frame({'op': 'next', 'object': 1, 'value': ['list', [['list', []], ['dict', []]]]}) * 5000"
    ),
    "errors for ever": forged("frame({'error': ['AssertionError', 'x' * 10**6]})", "frame({'error': ['exec', '1/0']})"),
    "changes of everything": forged(
        "frame({'value': ['tensor', 0], 'changed': ['list', [['list', [['tensor', 0]] * 2], ['dict', []]]],"
        " 'arrays': [['float32', [1, 2, 4], [8, 4, 1], 0, 32]]}, bytes(32))"
    ),
    "a byte at a time": forged("b'\\0'"),
    "bytes for ever": forged("struct.pack('>QQ', 1 << 20, 1 << 27) + bytes(1 << 20)"),
}
