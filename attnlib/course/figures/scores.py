"""The scores that the explorer can draw: numbers small enough to print, and the attnlib score that has them."""

import math
from collections.abc import Mapping

import torch

from attnlib.figures.parameters import numbers
from attnlib.scores import SCORES, Score

Parameters = Mapping[str, object]  # parameter name -> nested list, the layout of the torch weight

D = 2  # the widgets draw on a plane


def default_parameters(S: int) -> dict[str, Parameters]:
    """For every score a widget knows, parameters for S words on a plane.

    They are chosen to be seen, not learned: every score moves the weights in a way of its own.
    """
    return {
        "dot": {},
        "scaled_dot": {},
        "general": {"W": [[0.5, -0.9], [0.9, 0.5]]},  # turns the query by about 60 degrees
        # One hidden dimension: query and key meet on a line, and W_qᵀ W_k has rank 1.
        "projected_dot": {"W_q": [[1.0, 0.5]], "W_k": [[-0.5, 1.0]]},
        # Steep enough that a key at the rim of the plane is far in the flat part of the tanh.
        "additive": {"W_a": [[1.0, 0.0], [0.0, 1.0]], "U_a": [[1.5, 0.5], [-0.5, 1.5]], "v_a": [[2.0, 1.5]]},
        "concat": {"W_1": [[1.0, 1.0, -1.0, 0.5], [-0.5, 1.0, 0.5, 1.0]], "w_2": [[-1.5, 2.0]]},
        "cosine": {"sharpness": 4.0},
        "location": {"W_a": fan(S)},
        "zero": {},
    }


def fan(S: int, length: float = 2.0) -> list[list[float]]:
    """S vectors spread from left over top to right: a query to the left asks for the first word."""
    angles = [math.pi * (S - 1 - j) / (S - 1) if S > 1 else math.pi / 2 for j in range(S)]
    return [[round(length * math.cos(a), 2) + 0.0, round(length * math.sin(a), 2) + 0.0] for a in angles]


# The constructor argument of a score that one of its weights implies: its number of rows.
ROWS = {
    "projected_dot": ("d_hidden", "W_q"),
    "additive": ("d_hidden", "W_a"),
    "concat": ("d_hidden", "W_1"),
    "location": ("n_positions", "W_a"),
}


def build_score(name: str, parameters: Parameters) -> Score:
    """`SCORES[name]` on a plane, in float64, with the given parameters.

    Args:
        name: a name of `default_parameters`.
        parameters: for each weight of the score a nested list in the layout of its torch weight; for cosine
            the number `sharpness`.

    Raises:
        ValueError: a parameter is missing, is not one of this score, or has another shape.
    """
    expected = sorted(default_parameters(1)[name])
    if sorted(parameters) != expected:
        raise ValueError(f"{name} has the parameters {expected}, got {sorted(parameters)}")
    given = {key: torch.from_numpy(numbers(f"{name}: {key}", value)) for key, value in parameters.items()}
    if name == "cosine":
        return SCORES[name](D, D, sharpness=float(given["sharpness"])).double()
    sizes = {}
    if name in ROWS:
        argument, source = ROWS[name]
        sizes = {argument: len(given[source]) if given[source].dim() else 1}
    score = SCORES[name](D, D, **sizes).double()
    weights = score.state_dict()
    for key, weight in given.items():
        wanted = weights[f"{key}.weight"].shape
        if weight.shape != wanted:
            raise ValueError(f"{name}: {key} must have shape {tuple(wanted)}, got {tuple(weight.shape)}")
    score.load_state_dict({f"{key}.weight": weight for key, weight in given.items()})
    return score.requires_grad_(False)
