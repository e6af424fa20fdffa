"""The longest path of a computation, against paths counted by hand and by brute force."""

import pytest
import torch

from attnlib.course.critical_path import critical_path_length


def by_recursion(node):
    return 1 + max((by_recursion(parent) for parent, _ in node.next_functions if parent), default=0)


def test_a_chain_is_as_long_as_it_is():
    x = torch.ones(2, requires_grad=True)
    for n in (1, 2, 7, 3000):  # longer than Python's limit of recursion
        y = x
        for _ in range(n):
            y = y.sin()
        assert critical_path_length(y) == n + 1  # and x


def test_equals_a_search_through_all_paths():
    torch.manual_seed(0)
    for _ in range(20):
        values = [torch.rand((), requires_grad=True) for _ in range(2)]
        for _ in range(8):
            a, b = torch.randint(len(values), (2,)).tolist()
            values.append(values[a].sin() + values[b])
        assert critical_path_length(values[-1]) == by_recursion(values[-1].grad_fn)


def test_a_tensor_without_a_past_is_refused():
    with pytest.raises(ValueError, match="has no grad_fn"):
        critical_path_length(torch.ones(2))
