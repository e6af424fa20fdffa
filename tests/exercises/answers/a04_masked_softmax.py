"""Known answers to assignment 4."""

from tests.exercises.answers import right, wrong


def q1(body: str) -> dict[str, str]:
    return {"q1": "def masked_softmax(scores, mask):\n" + "".join(f"    {line}\n" for line in body.splitlines())}


ANSWERS = {
    "q1_over_queries": wrong(
        "the softmax runs over the queries",
        q1("mask = mask.expand_as(scores)\nreturn scores.masked_fill(~mask, -3e38).softmax(1) * mask"),
        q1_axis=1,
        q1_shared=1,
    ),
    "q1_no_mask": wrong("the mask is not used", q1("return scores.softmax(-1)"), q1_mask=1, q1_shared=1, q1_blank=1),
    "q1_mask_after": wrong("hidden after the softmax", q1("return scores.softmax(-1) * mask"), q1_shared=1),
    "q1_nan": wrong(
        "0 / 0 in a blank row",
        q1("return scores.masked_fill(~mask, -torch.inf).softmax(-1)"),
        q1_blank=1,
    ),
    "q1_loop": wrong(
        "never ends",
        q1("while True:\n    pass"),
        q1_axis=1,
        q1_mask=1,
        q1_shared=1,
        q1_blank=1,
    ),
    "q1_swept": right(
        "NaN swept to 0: masked_fill keeps the gradient clean",
        q1("return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)"),
    ),
}
