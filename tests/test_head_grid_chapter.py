"""HeadGrid of chapter 12: the trained models stored with the chapter, in JavaScript and in torch."""

import base64

import numpy as np
import torch
from torch import Tensor

from attnlib.widgets import HeadGrid
from tests.figures import stored_figures
from tests.node import run_in_node
from tests.test_head_grid import RUN, Reference, subsets


def test_javascript_runs_the_models_of_the_chapter():
    """The trained ones, on the chapter's rows: the answers of torch, in its own precision too."""
    exported, cases, expected = {}, [], []
    for state in stored_figures("12", "HeadGrid"):
        for label, model in state["models"].items():
            name = f"{len(exported)}: {label}"
            exported[name] = model
            weights = {key: unpacked(**weight) for key, weight in model["weights"].items()}
            single, double = Reference(model["heads"], weights).float(), Reference(model["heads"], weights)
            choices = subsets(model["heads"])
            for n, ids in enumerate(state["tokens"][:48]):
                off = choices[n % len(choices)]
                cases.append({"model": name, "ids": ids, "off": list(off)})
                expected.append([reference(torch.tensor([ids]), off)[0][0] for reference in (double, single)])
    assert len(cases) >= 200
    expression = f"({RUN}).map(({{ logits }}) => logits)"
    answers = run_in_node(str(HeadGrid._esm), expression, {"models": exported, "cases": cases})
    for case, answer, (double, single) in zip(cases, answers, expected, strict=True):
        found = torch.tensor(answer, dtype=torch.float64)
        torch.testing.assert_close(found, double, rtol=1e-10, atol=1e-9)
        torch.testing.assert_close(found.float(), single, rtol=1e-5, atol=1e-4)  # logits up to 40 in 32 bits
        said = found.unflatten(-1, (2, -1)).argmax(-1)
        assert torch.equal(said, single.unflatten(-1, (2, -1)).argmax(-1)), case


def unpacked(shape: list[int], data: str) -> Tensor:
    return torch.from_numpy(np.frombuffer(base64.b64decode(data), dtype="<f2").astype("f4").reshape(shape))
