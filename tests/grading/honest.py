"""What honest people write below an answer: it costs nothing, and nothing is noted."""

COMPARES = """
from attnlib import masked_softmax as theirs
from attnlib.course import checks
checks.masked_softmax(masked_softmax)
assert torch.allclose(theirs(torch.zeros(1, 2, 2), hide), masked_softmax(torch.zeros(1, 2, 2), hide))
"""
#: `{name: cells}`, below the right answer to question 1 of assignment 4.
HONEST = {
    "autoreload": ["%load_ext autoreload\n%autoreload 2", "%matplotlib inline", "%precision 3"],
    "compares": [COMPARES, "import attnlib\nattnlib.masked_softmax", "assert attnlib.attention.masked_softmax(1, 2)"],
    "inspects": [
        "import inspect\nprint(inspect.getsource(masked_softmax), inspect.signature(masked_softmax))",
        "masked_softmax?",
        "help(torch.softmax)\nglobals().keys(), vars(), In[-1], Out",
    ],
    "measures": [
        "!nvidia-smi\n!ls",
        "%timeit -n 2 -r 1 masked_softmax(torch.zeros(1, 2, 2), torch.zeros(1, 2, 2) == 1)",
        "%%time\nimport time, os, sys, gc, threading, subprocess\nprint(os.getcwd(), sys.version)",
        "from tqdm.auto import tqdm\nfor _ in tqdm(range(300)): pass",
    ],
    "shows": [
        "from IPython.display import display, HTML\ndisplay(HTML('<b>hi</b>'), masked_softmax)",
        "import matplotlib.pyplot as plt\nplt.imshow(torch.eye(3)); plt.show()",
        "import numpy as np, warnings, logging\nwarnings.warn('slow')\nlogging.warning('careful')\nprint(np.eye(2))",
        "weights, hide, close",  # what a test below defines is not there yet: an error of one's own
        "with open('notes.txt', 'w') as f: f.write('mine')\neval('1 + 1'); exec('x = 1')",
    ],
    "dresses": [
        "import functools\nfaster = functools.cache(lambda n: n)\nfaster(1)",
        "class Mine:\n    pass\nMine()",
        "1 / 0",
    ],
}
