"""Bugs of one line in attnlib/quick_softmax.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "quick_softmax.py", "test_quick_softmax.py",
    ("softmax over queries", "torch.softmax(part + shift, -1, out=out)", "torch.softmax(part + shift, -2, out=out)"),
    ("mask inverted", "torch.where(mask, 0.0, -torch.inf)", "torch.where(mask, -torch.inf, 0.0)"),
    ("mask ignored", "torch.softmax(part + shift,", "torch.softmax(part,"),
    ("a fill of -1e9", "torch.where(mask, 0.0, -torch.inf)", "torch.where(mask, 0.0, -1e9)"),
    ("float32 whatever the scores", "-torch.inf).to(scores.dtype)", "-torch.inf)"),
    ("multiplied by the mask", "part + shift", "part * shift.exp()"),
    ("into the caller's scores", "torch.softmax(part + shift,", "torch.softmax(part.add_(shift),"),
    ("the mask of the first part for all", "            yield from in_parts(*ones)",
     "            yield from in_parts(ones[0], tensors[1][0], ones[2])"),
    ("in parts along the row", " or first.dim() == 1", ""),
    ("never in parts", "if first.numel() <= IN_CACHE or", "if True or"),
    ("one sentence more than fits", "// first.numel():", "// first.numel() + 1:"),
    ("no sentence is too much", "elif at_once := IN_CACHE * len(first) // first.numel():",
     "elif at_once := max(1, IN_CACHE * len(first) // first.numel()):"),
    ("one by one", "yield from zip(*(x.split(at_once) for x in tensors), strict=True)",
     "yield from zip(*(x.split(1) for x in tensors), strict=True)"),
    ("what a loss sends to a hidden weight comes back", "        if has_nan(back):\n", "        if False:\n"),
    ("the other way round", "torch.where(mask, grad, 0.0)", "torch.where(mask, 0.0, grad)"),
    ("NaN never comes back", "        return back, None", "        return back.nan_to_num(0.0), None"),
    ("the gradient has no gradient", "torch._softmax_backward_data(grad, weights, -1, weights.dtype)\n        if",
     "torch._softmax_backward_data(grad, weights.detach(), -1, weights.dtype)\n        if"),
    ("gradient over queries", "torch._softmax_backward_data(grad, weights, -1, weights.dtype)\n        if",
     "torch._softmax_backward_data(grad, weights, -2, weights.dtype)\n        if"),
    ("NaN looked for in the first row", "weights[..., 0].sum()", "weights[..., :1, 0].sum()"),
    ("empty rows have a first column", "weights.shape[-1] > 0 and bool(", "bool("),
)
