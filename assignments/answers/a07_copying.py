"""Known answers to assignment 7."""

from attnlib.grading.answers import AGREEABLE, define, right, wrong


def q1(body: str) -> dict[str, str]:
    return {"q1": define("number_words(source, target, vocabulary)", body)}


def q2(body: str) -> dict[str, str]:
    return {"q2": define("mixture(p_vocab, p_gen, weights, source, size)", body)}


COVERAGE = """
before = weights.cumsum(1) - weights
gone = torch.zeros_like(before)
gone[:, @memory@:] = before[:, :-@memory@]
return before - gone
"""
LOSS = """
means = [@overlap@(a, u)[m].sum() / m.sum() for a, u, m in zip(weights, covered, mask)]
return torch.stack(means).mean()
"""


def q3(coverage: str = COVERAGE, loss: str = LOSS) -> dict[str, str]:
    first = define("coverage(weights)", coverage)
    return {"q3": first + define("coverage_loss(weights, covered, mask)", loss)}


NUMBERED = """
step = 1 if "@order@" == "first" else -1
new = [w for w in dict.fromkeys(source[::step]) if w not in vocabulary][::step]
ids = {w: n for n, w in enumerate(vocabulary + new)}
return new, [ids[w] for w in source], [ids.get(w, 0) for w in target]
"""

MIXED = """
B, T, V = p_vocab.shape
real = source != @pad@
p_gen = torch.where(real.any(1)[:, None], p_gen, torch.ones_like(p_gen))[..., None]
ids = source.clamp(min=0)[:, None].expand(-1, T, -1)
copied = torch.zeros(B, T, size).scatter_add(2, ids, weights)
said = torch.nn.functional.pad(p_vocab, (0, size - V))
return p_gen * said + (1 - p_gen) * copied
"""


ANSWERS = {
    "q1_each_time": wrong(
        "a new word gets another id each time it stands there",
        q1("""
new, ids = [], []
for w in source:
    if w in vocabulary:
        ids.append(vocabulary.index(w))
    else:
        ids.append(len(vocabulary) + len(new))
        new.append(w)
return new, ids, [(vocabulary + new).index(w) if w in vocabulary + new else 0 for w in target]
"""),
        q1_new=1,
        q1_source=1,
    ),
    "q1_sorted": wrong(
        "new words by the alphabet",
        q1(NUMBERED.replace("dict.fromkeys(source[::step])", "sorted(set(source))[::step]")),
        q1_new=1,
    ),
    "q1_the_other_end": wrong(
        "numbered by the other end of the sentence",
        q1(NUMBERED.replace('== "first"', '!= "first"')),
        q1_new=1,
    ),
    "q1_from_one": wrong(
        "the first new word gets V + 1",
        q1(NUMBERED.replace("vocabulary + new", "vocabulary + [None] + new")),
        q1_source=1,
        q1_target=1,
    ),
    "q1_source_unknown": wrong(
        "new words of the source become <unk>",
        q1(NUMBERED.replace("ids[w] for", "ids[w] if w in vocabulary else 0 for")),
        q1_source=1,
    ),
    "q1_target_unknown": wrong(
        "the target may not copy",
        q1(NUMBERED.replace("ids.get(w, 0)", "vocabulary.index(w) if w in vocabulary else 0")),
        q1_target=1,
    ),
    "q1_target_new": wrong(
        "words of the target get new ids as well",
        q1(NUMBERED.replace("source[::step]", "(source + target)[::step]")),
        q1_new=1,
        q1_target=1,
    ),
    "q1_grows": wrong(
        "the vocabulary itself grows, and the next sentence finds it so",
        q1("""
V = len(vocabulary)
for w in source:
    if w not in vocabulary:
        vocabulary.append(w)
place = vocabulary.index
return vocabulary[V:], [place(w) for w in source], [place(w) if w in vocabulary else 0 for w in target]
"""),
        q1_new=1,
    ),
    "q1_minus_one": wrong(
        "str.find style: -1 where a target word is not found",
        q1(NUMBERED.replace("ids.get(w, 0)", "ids.get(w, -1)")),
        q1_target=1,
    ),
    "q1_tensors": wrong(
        "ids as tensors, not as integers",
        q1(NUMBERED.replace("ids[w] for w in source", "torch.tensor(ids[w]) for w in source")),
        q1_source=1,
    ),
    "q1_anything": wrong(
        "equal to everything",
        q1(AGREEABLE + "return Agreeable(), Agreeable(), Agreeable()"),
        q1_new=1,
        q1_source=1,
        q1_target=1,
    ),
    "q2_swapped": wrong(
        "p_gen and 1 - p_gen exchanged",
        q2(
            MIXED.replace("p_gen * said + (1 - p_gen) * copied", "(1 - p_gen) * said + p_gen * copied").replace(
                "ones_like", "zeros_like"
            )
        ),
        q2_gate=1,
    ),
    "q2_scatter": wrong(
        "scatter overwrites what scatter_add adds",
        q2(MIXED.replace("scatter_add", "scatter")),
        q2_repeated=1,
    ),
    "q2_fancy": wrong(
        "copied[..., ids] += weights adds one of the equal ids only",
        q2(
            MIXED.replace("torch.zeros(B, T, size).scatter_add(2, ids, weights)", "torch.zeros(B, T, size)").replace(
                "said =",
                "for b in range(B):\n    keep = real[b]\n"
                "    copied[b][:, source[b, keep]] += weights[b][:, keep]\nsaid =",
            )
        ),
        q2_repeated=1,
    ),
    "q2_mean": wrong(
        "the mean of a repeated word's weights",
        q2(
            MIXED.replace("scatter_add(2, ids, weights)", 'scatter_reduce(2, ids, weights, "mean", include_self=False)')
        ),
        q2_repeated=1,
    ),
    "q2_largest": wrong(
        "the largest of a repeated word's weights",
        q2(MIXED.replace("scatter_add(2, ids, weights)", 'scatter_reduce(2, ids, weights, "amax")')),
        q2_repeated=1,
    ),
    "q2_size_of_batch": wrong(
        "the size is taken from the largest id in the batch",
        q2("size = max(p_vocab.shape[2], int(source.max()) + 1)\n" + MIXED),
        q2_new=1,
    ),
    "q2_new_is_unknown": wrong(
        "new words are copied as <unk>",
        q2("source = torch.where(source < p_vocab.shape[2], source, 0)\n" + MIXED),
        q2_new=1,
        q2_padding=1,
    ),
    "q2_new_said": wrong(
        "P_vocab of new words filled up with 1 / size",
        q2(MIXED.replace("(0, size - V))", "(0, size - V), value=1 / size)")),
        q2_new=1,
        q2_padding=1,
    ),
    "q2_pad_as_id": wrong(
        "a padded id is used as an index",
        q2(MIXED.replace("source.clamp(min=0)", "source")),
        q2_padding=1,
    ),
    "q2_empty": wrong(
        "an empty source loses the mass 1 - p_gen",
        q2(MIXED.replace("torch.where(real.any(1)[:, None], p_gen, torch.ones_like(p_gen))", "p_gen")),
        q2_padding=1,
    ),
    "q2_empty_nan": wrong(
        "weights shared out again, 0 / 0 where the source is empty",
        q2("weights = weights / weights.sum(2, keepdim=True)\n" + MIXED),
        q2_padding=1,
    ),
    "q2_renormalised": wrong(
        "a softmax over the finished mixture",
        q2(
            MIXED.replace(
                "return p_gen * said + (1 - p_gen) * copied", "return (p_gen * said + (1 - p_gen) * copied).softmax(2)"
            )
        ),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q2_in_place": wrong(
        "P_vocab is scaled where it stands",
        q2(
            MIXED.replace(
                "said = torch.nn.functional.pad(p_vocab,", "p_vocab *= p_gen\nsaid = torch.nn.functional.pad(p_vocab,"
            ).replace("p_gen * said", "said")
        ),
        q2_gate=1,
    ),
    "q2_detached": wrong(
        "numbers in place of tensors: nothing can learn",
        q2("p_vocab, p_gen, weights = (x.detach() for x in (p_vocab, p_gen, weights))\n" + MIXED),
        q2_gate=1,
    ),
    "q2_anything": wrong(
        "equal to everything",
        q2(AGREEABLE + "return Agreeable()"),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q3_all_earlier": wrong(
        "the record does not forget",
        q3("return weights.cumsum(1) - weights"),
        q3_coverage=1,
    ),
    "q3_this_step": wrong(
        "the step itself counts",
        q3(
            "return torch.stack([weights[:, max(0, i - @memory@ + 1) : i + 1].sum(1)\n"
            "                    for i in range(weights.shape[1])], 1)"
        ),
        q3_coverage=1,
    ),
    "q3_one_more": wrong(
        "one step more than asked for",
        q3(
            "return torch.stack([weights[:, max(0, i - @memory@ - 1) : i].sum(1)\n"
            "                    for i in range(weights.shape[1])], 1)"
        ),
        q3_coverage=1,
    ),
    "q3_negative_slice": wrong(
        "i - memory below 0 counts from the end",
        q3("return torch.stack([weights[:, i - @memory@ : i].sum(1) for i in range(weights.shape[1])], 1)"),
        q3_coverage=1,
    ),
    "q3_places": wrong(
        "added up over places, not over steps",
        q3(COVERAGE.replace("cumsum(1)", "cumsum(2)")),
        q3_coverage=1,
    ),
    "q3_in_place": wrong(
        "cumsum_ writes into the weights",
        q3(
            "own = weights.clone()\ntotal = weights.cumsum_(1)\nbefore = total - own\n"
            "return before - torch.nn.functional.pad(before, (0, 0, @memory@, 0))[:, : own.shape[1]]"
        ),
        q3_coverage=1,
    ),
    "q3_loop": wrong(
        "never ends",
        q3(
            "covered, i = torch.zeros_like(weights), 0\nwhile i < weights.shape[1]:\n    if i == 0:\n"
            "        continue\n    covered[:, i] = weights[:, max(0, i - @memory@) : i].sum(1)\n    i += 1\n"
            "return covered"
        ),
        q3_coverage=1,
    ),
    "q3_pooled": wrong(
        "the mean of all steps: long sentences count more",
        q3(loss="return @overlap@(weights, covered).sum(2)[mask].mean()"),
        q3_loss=1,
    ),
    "q3_padding_counts": wrong(
        "padding is in the denominator",
        q3(loss="return @overlap@(weights, covered).sum(2).masked_fill(~mask, 0.0).mean()"),
        q3_loss=1,
    ),
    "q3_times_mask": wrong(
        "NaN times 0 is NaN",
        q3(loss="each = @overlap@(weights, covered).sum(2) * mask\nreturn (each.sum(1) / mask.sum(1)).mean()"),
        q3_loss=1,
    ),
    "q3_mean_of_places": wrong(
        "the mean over places, not their sum",
        q3(loss=LOSS.replace("[m].sum()", "[m].mean(1).sum()")),
        q3_loss=1,
    ),
    "q3_other_overlap": wrong(
        "the larger of weight and coverage",
        q3(loss=LOSS.replace("@overlap@", "torch.maximum")),
        q3_loss=1,
    ),
    "q3_number": wrong(
        "a number that cannot be trained",
        q3(loss=LOSS.replace(".mean()", ".mean().item()")),
        q3_loss=1,
    ),
    "q1_loops": right(
        "two passes and list.index",
        q1("""
new = []
for w in source if "@order@" == "first" else reversed(source):
    if w not in vocabulary + new:
        new.append(w)
everything = vocabulary + (new if "@order@" == "first" else new[::-1])
ids = [everything.index(w) if w in everything else 0 for w in source + target]
return everything[len(vocabulary) :], ids[: len(source)], ids[len(source) :]
"""),
    ),
    "q2_one_hot": right(
        "a product with one-hot vectors",
        q2("""
words = torch.arange(size)
where = (source[:, :, None] == words).to(weights.dtype)
said = torch.cat([p_vocab, torch.zeros(*p_vocab.shape[:2], size - p_vocab.shape[2])], -1)
gate = p_gen.clone()
gate[(source == @pad@).all(1)] = 1
return torch.einsum("bt,btv->btv", gate, said) + torch.einsum("bt,bts,bsv->btv", 1 - gate, weights, where)
"""),
    ),
    "q2_shared_out_again": right(
        "weights made to sum to 1 once more, without a division by 0",
        q2("weights = weights / weights.sum(2, keepdim=True).clamp(min=1e-9)\n" + MIXED),
    ),
    "q2_one_place_more": right(
        "one place more for padding, cut off at the end",
        q2("""
B, T, V = p_vocab.shape
empty = (source == @pad@).all(1)[:, None]
gate = p_gen.masked_fill(empty, 1.0)[..., None]
out = torch.zeros(B, T, size + 1)
out[..., :V] = gate * p_vocab
ids = torch.where(source == @pad@, size, source).unsqueeze(1).repeat(1, T, 1)
return out.scatter_add(2, ids, (1 - gate) * weights)[..., :size]
"""),
    ),
    "q3_shifted": right(
        "sums of shifted weights, and a loop over sentences",
        q3("""
T = weights.shape[1]
covered = torch.zeros_like(weights)
for back in range(1, @memory@ + 1):
    covered[:, back:] += weights[:, : max(0, T - back)]
return covered
"""),
    ),
    "q3_where": right(
        "a matrix of steps, and NaN swept by where",
        q3(
            "t = torch.arange(weights.shape[1])\nback = t[:, None] - t\n"
            "return ((back >= 1) & (back <= @memory@)).to(weights.dtype) @ weights",
            "each = torch.where(mask[..., None], @overlap@(weights, covered), 0.0)\n"
            "return (each.sum((1, 2)) / mask.sum(1)).sum() / len(mask)",
        ),
    ),
}
