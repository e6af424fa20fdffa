"""Known answers to assignment 7."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

NUMBERED = """
step = 1 if "@order@" == "first" else -1
new = [w for w in dict.fromkeys(source[::step]) if w not in vocabulary][::step]
ids = {w: n for n, w in enumerate(vocabulary + new, @count.first@)}
return new, [ids[w] for w in source], [ids.get(w, @count.first@) for w in target]
"""
MIXED = """
V = p_vocab.shape[2]
real = source != @count.pad@
filled = torch.where(real, source, @count.first@) - @count.first@
if @axes.batch@ == 1:
    filled, real = filled.T, real.T
    p_vocab, @gate.name@, weights = (x.transpose(0, 1) for x in (p_vocab, @gate.name@, weights))
B, T, S = weights.shape
empty = torch.zeros_like(@gate.name@) + @gate.empty@
@gate.name@ = torch.where(real.any(1)[:, None], @gate.name@, empty)[..., None]
ids = filled[:, None].expand(-1, T, -1)
copied = torch.zeros(B, T, size).scatter_add(2, ids, weights)
said = torch.nn.functional.pad(p_vocab, (0, size - V))
mixed = @gate.said@ * said + @gate.copied@ * copied
return mixed.transpose(0, @axes.batch@)
"""
COVERAGE = """
weights = weights.transpose(0, @axes.batch@)
before = weights.cumsum(1) - weights
gone = torch.zeros_like(before)
gone[:, @memory@:] = before[:, :-@memory@]
return (before - gone).transpose(0, @axes.batch@)
"""
#: The same by a slice for each step, `start` to `end`.
SLICES = """
weights = weights.transpose(0, @axes.batch@)
covered = torch.zeros_like(weights)
for i in range(weights.shape[1]):
    covered[:, i] = weights[:, max(0, i - @memory@) : i].sum(1)
return covered.transpose(0, @axes.batch@)
"""
LOSS = """
lengths, total = mask.sum(@axes.steps@).tolist(), 0.0
for b, length in enumerate(lengths):
    each = @overlap@(weights.select(@axes.batch@, b), covered.select(@axes.batch@, b))
    total = total + each[mask.select(@axes.batch@, b)].sum() / @mean.steps@
return total / @mean.sentences@
"""


def q1(*changes: tuple[str, str], body: str = NUMBERED) -> dict[str, str]:
    return {"q1": define("number_words(source, target, vocabulary)", body, *changes)}


def q2(*changes: tuple[str, str], body: str = MIXED, before: str = "") -> dict[str, str]:
    head = "mixture(p_vocab, @gate.name@, weights, source, size)"
    return {"q2": define(head, before + changed(body, *changes))}


def q3(coverage: str = COVERAGE, loss: str = LOSS) -> dict[str, str]:
    first = define("coverage(weights)", coverage)
    return {"q3": first + define("coverage_loss(weights, covered, mask)", loss)}


ANSWERS = {
    "q1_each_time": wrong(
        "a new word gets another id each time it stands there: look it up among the new ones first",
        q1(
            body="""
new, ids = [], []
for w in source:
    if w in vocabulary:
        ids.append(vocabulary.index(w) + @count.first@)
    else:
        ids.append(len(vocabulary) + len(new) + @count.first@)
        new.append(w)
known = vocabulary + new
return new, ids, [(known.index(w) if w in known else 0) + @count.first@ for w in target]
"""
        ),
        q1_new=1,
        q1_source=1,
    ),
    "q1_sorted": wrong(
        "the new words are numbered by the alphabet, but their place in the source is asked for",
        q1(("dict.fromkeys(source[::step])", "sorted(set(source))[::step]")),
        q1_new=1,
    ),
    "q1_the_other_end": wrong(
        "the new words are numbered by the other end of the sentence: the place where each stands @order@ counts",
        q1(('== "first"', '!= "first"')),
        q1_new=1,
    ),
    "q1_reversed": wrong(
        "the new words come in the right order, but from the end: the smallest place has the smallest id",
        q1(("not in vocabulary][::step]", "not in vocabulary][::-step]")),
        q1_new=1,
    ),
    "q1_set": wrong(
        "a set knows no order: which new word comes first is left to chance",
        q1(("dict.fromkeys(source[::step])", "sorted(set(source), key=lambda w: w[::-1] + 'z', reverse=True)")),
        q1_new=1,
    ),
    "q1_from_one_more": wrong(
        "one id is left out between the vocabulary and the new words",
        q1(("vocabulary + new", "vocabulary + [None] + new")),
        q1_source=1,
        q1_target=1,
    ),
    "q1_counted_otherwise": wrong(
        "ids are counted from @count.first@ here, and you begin at the other number",
        q1(("new, @count.first@)", "new, 1 - @count.first@)"), ("(w, @count.first@)", "(w, 1 - @count.first@)")),
        q1_source=1,
        q1_target=1,
    ),
    "q1_source_unknown": wrong(
        "new words of the source become <unk>, and can no longer be copied",
        q1(("ids[w] for", "ids[w] if w in vocabulary else @count.first@ for")),
        q1_source=1,
    ),
    "q1_target_unknown": wrong(
        "a target word that stands in the source has the id that it has there, and you give <unk>",
        q1(("ids.get(w, @count.first@) for", "ids[w] if w in vocabulary else @count.first@ for")),
        q1_target=1,
    ),
    "q1_target_new": wrong(
        "words of the target get new ids as well, but nobody can copy what does not stand in the source",
        q1(("source[::step]", "(source + target)[::step]")),
        q1_new=1,
        q1_target=1,
    ),
    "q1_grows": wrong(
        "the vocabulary itself grows, and the next sentence finds it so",
        q1(
            body="""
V = len(vocabulary)
step = 1 if "@order@" == "first" else -1
vocabulary += [w for w in dict.fromkeys(source[::step]) if w not in vocabulary][::step]
ids = {w: n for n, w in enumerate(vocabulary, @count.first@)}
return vocabulary[V:], [ids[w] for w in source], [ids.get(w, @count.first@) for w in target]
"""
        ),
        q1_new=1,
    ),
    "q1_minus_one": wrong(
        "a word that is not found gets -1, as from str.find, and an index of -1 means the last word",
        q1(("ids.get(w, @count.first@)", "ids.get(w, -1)")),
        q1_target=1,
    ),
    "q1_unknown_is_new": wrong(
        "<unk> stands in the vocabulary, so it has its id there and is no new word",
        q1(("if w not in vocabulary]", "if w not in vocabulary[1:]]")),
        q1_new=1,
    ),
    "q1_tensors": wrong(
        "the ids are tensors, but Python's integers are asked for",
        q1(("ids[w] for w in source", "torch.tensor(ids[w]) for w in source")),
        q1_source=1,
    ),
    "q1_anything": wrong(
        "what you return is equal to everything",
        q1(body=AGREEABLE + "return Agreeable(), Agreeable(), Agreeable()"),
        q1_new=1,
        q1_source=1,
        q1_target=1,
    ),
    "q2_swapped": wrong(
        "the two shares are exchanged: @gate.name@ is the probability that @gate.meant@",
        q2(
            ("@gate.said@ * said + @gate.copied@ * copied", "@gate.copied@ * said + @gate.said@ * copied"),
            (" + @gate.empty@", " + 1 - @gate.empty@"),
        ),
        q2_gate=1,
    ),
    "q2_scatter": wrong(
        "scatter overwrites what scatter_add adds: of a word that stands twice one weight is lost",
        q2(("scatter_add", "scatter")),
        q2_repeated=1,
    ),
    "q2_fancy": wrong(
        "copied[..., ids] += weights adds only one of the weights that go to one id",
        q2(
            (
                "copied = torch.zeros(B, T, size).scatter_add(2, ids, weights)",
                "copied = torch.zeros(B, T, size)\nfor b in range(B):\n    keep = real[b]\n"
                "    copied[b][:, filled[b, keep]] += weights[b][:, keep]",
            )
        ),
        q2_repeated=1,
    ),
    "q2_mean": wrong(
        "a repeated word gets the mean of its weights, but probabilities of one word add up",
        q2(("scatter_add(2, ids, weights)", 'scatter_reduce(2, ids, weights, "mean", include_self=False)')),
        q2_repeated=1,
    ),
    "q2_largest": wrong(
        "a repeated word gets the largest of its weights, but probabilities of one word add up",
        q2(("scatter_add(2, ids, weights)", 'scatter_reduce(2, ids, weights, "amax")')),
        q2_repeated=1,
    ),
    "q2_size_of_batch": wrong(
        "the size is taken from the largest id of the batch, so it differs from batch to batch",
        q2(before="size = max(p_vocab.shape[2], int(source.max()) + 1 - @count.first@)\n"),
        q2_new=1,
    ),
    "q2_new_is_unknown": wrong(
        "new words are copied as <unk>, but each of them has an id of its own",
        q2(before="source = torch.where(source < p_vocab.shape[2] + @count.first@, source, @count.first@)\n"),
        q2_new=1,
        q2_padding=1,
    ),
    "q2_new_said": wrong(
        "new words get a probability to be said, but the vocabulary does not hold them",
        q2(("(0, size - V))", "(0, size - V), value=1 / size)")),
        q2_new=1,
        q2_padding=1,
    ),
    "q2_counted_otherwise": wrong(
        "the columns are shifted by one: column 0 belongs to id @count.first@",
        q2(("@count.first@) - @count.first@", "@count.first@) - @count.first@ + 1")),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q2_pad_as_id": wrong(
        "the id of padding is used as an index, and it names no word",
        q2(("torch.where(real, source, @count.first@)", "source")),
        q2_padding=1,
    ),
    "q2_empty": wrong(
        "with an empty source nothing is copied, and the share of copying is lost: the row no longer sums to 1",
        q2(("torch.where(real.any(1)[:, None], @gate.name@, empty)", "@gate.name@")),
        q2_padding=1,
    ),
    "q2_empty_nan": wrong(
        "weights are divided by their sum, and that is 0 / 0 where the source is empty",
        q2(before="weights = weights / weights.sum(2, keepdim=True)\n"),
        q2_padding=1,
    ),
    "q2_empty_copies": wrong(
        "with an empty source everything is copied, and there is nothing to copy: @gate.name@ counts as @gate.empty@",
        q2((" + @gate.empty@", " + 1 - @gate.empty@")),
        q2_padding=1,
    ),
    "q2_one_empty_for_all": wrong(
        "one empty source decides for the whole batch, but each sentence has its own",
        q2(("real.any(1)[:, None]", "real.any(1).all()")),
        q2_padding=1,
    ),
    "q2_softmax": wrong(
        "a softmax is taken of probabilities that sum to 1 already",
        q2(("return mixed.", "return mixed.softmax(2).")),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q2_axes_of_another_shape": wrong(
        "sentences and steps are exchanged: look up in the shapes which axis comes first",
        q2(
            ("if @axes.batch@ == 1:", "if @axes.batch@ == 0:"),
            ("transpose(0, @axes.batch@)", "transpose(0, 1 - @axes.batch@)"),
        ),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q2_first_sentence": wrong(
        "the words of the first source are copied for all sentences",
        q2(("ids = filled[:, None]", "ids = filled[:1, None].expand(B, -1, -1)")),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q2_in_place": wrong(
        "the weights that were given are scaled where they stand, and the caller finds them changed",
        q2(("said = torch.nn", "weights.mul_(0.5)\nsaid = torch.nn")),
        q2_gate=1,
    ),
    "q2_detached": wrong(
        "the inputs are cut off from their graph, so nothing can learn",
        q2(before="p_vocab, @gate.name@, weights = (x.detach() for x in (p_vocab, @gate.name@, weights))\n"),
        q2_gate=1,
    ),
    "q2_anything": wrong(
        "what you return is equal to everything",
        q2(body=AGREEABLE + "return Agreeable()"),
        q2_gate=1,
        q2_repeated=1,
        q2_new=1,
        q2_padding=1,
    ),
    "q3_all_earlier": wrong(
        "the record does not forget: all earlier steps count, but only the last @memory@ should",
        q3(COVERAGE.replace("before - gone", "before")),
        q3_coverage=1,
    ),
    "q3_this_step": wrong(
        "the step itself counts, but coverage is what was seen before it",
        q3(SLICES.replace("max(0, i - @memory@) : i]", "max(0, i - @memory@ + 1) : i + 1]")),
        q3_coverage=1,
    ),
    "q3_one_more": wrong(
        "one step more counts than the last @memory@",
        q3(SLICES.replace("i - @memory@", "i - @memory@ - 1")),
        q3_coverage=1,
    ),
    "q3_one_less": wrong(
        "one step less counts than the last @memory@",
        q3(SLICES.replace("i - @memory@", "i - @memory@ + 1")),
        q3_coverage=1,
    ),
    "q3_negative_slice": wrong(
        "the start of a slice is negative in the first steps, and a negative index counts from the end",
        q3(SLICES.replace("max(0, i - @memory@)", "i - @memory@")),
        q3_coverage=1,
    ),
    "q3_places": wrong(
        "the weights are added up over places, not over steps",
        q3(COVERAGE.replace("cumsum(1)", "cumsum(2)")),
        q3_coverage=1,
    ),
    "q3_axes_of_another_shape": wrong(
        "sentences are added up in place of steps: look up in the shape which axis the steps have",
        q3(
            "weights = weights.transpose(0, 1)\n" + COVERAGE.strip() + ".transpose(0, 1)",
            LOSS,
        ),
        q3_coverage=1,
    ),
    "q3_in_place": wrong(
        "cumsum_ writes into the weights that were given, and the caller finds them changed",
        q3(
            "result = SLOT\nweights.cumsum_(@axes.steps@)\nreturn result".replace("SLOT", "weights.clone()")
            .replace("result = weights.clone()\n", SLICES.replace("return covered", "result = covered").strip() + "\n")
            .replace("weights.cumsum_(@axes.steps@)", "weights.cumsum_(1)")
        ),
        q3_coverage=1,
    ),
    "q3_loop": wrong(
        "the loop never ends: i stays where it is",
        q3("while weights.shape[0]:\n    pass\nreturn weights"),
        q3_coverage=1,
    ),
    "q3_padding_counts": wrong(
        "padded steps are counted, too: they make the loss of short sentences smaller or larger",
        q3(
            loss="total = torch.nan_to_num(@overlap@(weights, covered)).sum()\n"
            "steps = mask.numel() if '@mean.steps@@mean.sentences@' != '1len(lengths)' else mask.shape[@axes.batch@]\n"
            "return total / steps"
        ),
        q3_loss=1,
    ),
    "q3_other_mean": wrong(
        "the loss should be @mean.name@, and you divide by another number of steps",
        q3(
            loss=LOSS.replace("/ @mean.steps@", "/ (length if '@mean.steps@' == '1' else 1)").replace(
                "total / @mean.sentences@", "total / (sum(lengths) if '@mean.steps@' != '1' else len(lengths))"
            )
        ),
        q3_loss=1,
    ),
    "q3_last_sentence": wrong(
        "only the last sentence counts: the loop overwrites what it should add up",
        q3(loss=LOSS.replace("total = total + each", "total = each")),
        q3_loss=1,
    ),
    "q3_times_mask": wrong(
        "padded steps are multiplied by 0, and NaN times 0 is NaN",
        q3(
            loss=LOSS.replace(
                "each[mask.select(@axes.batch@, b)].sum()", "(each.sum(1) * mask.select(@axes.batch@, b)).sum()"
            )
        ),
        q3_loss=1,
    ),
    "q3_mean_of_places": wrong(
        "the mean over places is taken, but the formula has their sum",
        q3(loss=LOSS.replace("].sum() /", "].mean(1).sum() /")),
        q3_loss=1,
    ),
    "q3_other_overlap": wrong(
        "the overlap is not the larger of weight and coverage: look at its name in the text",
        q3(loss=LOSS.replace("@overlap@", "torch.maximum")),
        q3_loss=1,
    ),
    "q3_the_other_overlap": wrong(
        "the overlap is `@overlap@` here, not the product in place of the smaller one or the other way round",
        q3(loss=LOSS.replace("@overlap@", "{'torch.mul': torch.minimum, 'torch.minimum': torch.mul}['@overlap@']")),
        q3_loss=1,
    ),
    "q3_number": wrong(
        "the loss is a Python number, which cannot be trained: a tensor is asked for",
        q3(loss=LOSS.replace("return total", "return float(total)")),
        q3_loss=1,
    ),
    "q1_loops": right(
        "two passes and list.index",
        q1(
            body="""
new = []
for w in source if "@order@" == "first" else reversed(source):
    if w not in vocabulary + new:
        new.append(w)
everything = vocabulary + (new if "@order@" == "first" else new[::-1])
ids = [(everything.index(w) if w in everything else 0) + @count.first@ for w in source + target]
return everything[len(vocabulary) :], ids[: len(source)], ids[len(source) :]
"""
        ),
    ),
    "q2_one_hot": right(
        "a product with one-hot vectors",
        q2(
            body="""
words = torch.arange(size) + @count.first@
where = (source[..., None] == words).to(weights.dtype)
said = torch.cat([p_vocab, torch.zeros(*p_vocab.shape[:2], size - p_vocab.shape[2])], -1)
empty = (source == @count.pad@).all(1 - @axes.batch@)
@gate.name@ = @gate.name@.masked_fill(empty.unsqueeze(@axes.steps@), @gate.empty@.0)
letters = "bts,bsv->btv" if @axes.batch@ == 0 else "tbs,sbv->tbv"
copied = torch.einsum(letters, weights, where)
@gate.name@ = @gate.name@.unsqueeze(-1)
return @gate.said@ * said + @gate.copied@ * copied
"""
        ),
    ),
    "q2_column_by_column": right("one layout for all, and scatter_add", q2()),
    "q2_shared_out_again": right(
        "weights made to sum to 1 once more, without a division by 0",
        q2(before="weights = weights / weights.sum(2, keepdim=True).clamp(min=1e-9)\n"),
    ),
    "q2_one_place_more": right(
        "one place more for padding, cut off at the end",
        q2(
            (
                "filled = torch.where(real, source, @count.first@) - @count.first@",
                "filled = torch.where(real, source - @count.first@, size)",
            ),
            (
                "torch.zeros(B, T, size).scatter_add(2, ids, weights)",
                "torch.zeros(B, T, size + 1).scatter_add(2, ids, weights)[..., :size]",
            ),
        ),
    ),
    "q3_slices": right("a slice for each step, and a loop over sentences", q3(SLICES)),
    "q3_where": right(
        "a matrix of steps, and NaN swept by where",
        q3(
            "t = torch.arange(weights.shape[@axes.steps@])\nback = t[:, None] - t\n"
            "near = ((back >= 1) & (back <= @memory@)).to(weights.dtype)\n"
            "letters = 'ij,bjs->bis' if @axes.batch@ == 0 else 'ij,jbs->ibs'\n"
            "return torch.einsum(letters, near, weights)",
            "overlap = torch.where(mask[..., None], @overlap@(weights, covered), 0.0).sum(2)\n"
            "steps = @axes.steps@\nreturn @mean.code@",
        ),
    ),
}
