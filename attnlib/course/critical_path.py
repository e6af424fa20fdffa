"""How deep a computation is: what has to wait for what."""

from torch import Tensor


def critical_path_length(result: Tensor) -> int:
    """Operations on the longest path to a result: the steps that no parallel machine can save.

    Args:
        result: a tensor that remembers how it was computed (it has a `grad_fn`).

    Raises:
        ValueError: it does not remember.

    Example:
        >>> x = torch.ones(3, requires_grad=True)
        >>> critical_path_length(x.exp())  # exp, and x itself
        2
        >>> critical_path_length((x.exp() + x).log())
        4
    """
    if result.grad_fn is None:
        raise ValueError("the tensor does not remember how it was computed: it has no grad_fn")
    longest: dict = {}
    stack = [result.grad_fn]
    while stack:  # depth first without recursion: a node stays on the stack until all it was computed from is known
        node = stack.pop()
        before = [parent for parent, _ in node.next_functions if parent]
        if node not in longest:
            longest[node] = 0
            stack += [node, *before]
        elif longest[node] == 0:
            longest[node] = 1 + max((longest[parent] for parent in before), default=0)
    return longest[result.grad_fn]
