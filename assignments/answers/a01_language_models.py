"""Known answers to assignment 1."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong


def q1(body: str) -> dict[str, str]:
    return {"q1": define("loss_and_perplexity(logits, targets, lengths)", body)}


def q2(body: str) -> dict[str, str]:
    return {"q2": define("make_batch(texts)", body)}


def q3(body: str) -> dict[str, str]:
    """An answer to question 3, in which `T` is the number of steps."""
    return {"q3": define("read(cell, x, state, k)", "T = x.shape[@axes.time@]\n" + body.strip("\n"))}


#: Texts first, whatever the variant: `real` and `surprise` are (B, T).
SURPRISE = """
logits, targets = logits@axes.turn@, targets@axes.turn@
T, n = targets.shape[1], lengths.unsqueeze(1)
place = torch.arange(T)
real = (place >= @side.first@) & (place < @side.first@ + n)
surprise = -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1) / math.log(@base@)
"""

PADDED = """
def filled(words):
    space = [PAD] * (max(map(len, texts)) + 1 - len(words))
    return words + space if "@side.pads@" == "right" else space + words
inputs = torch.tensor([filled([BOS] + words) for words in texts])@axes.turn@
targets = torch.tensor([filled(words + [EOS]) for words in texts])@axes.turn@
"""

ANSWERS = {
    "q1_nats": wrong(
        "the loss is in nats: it is not divided by the logarithm of the base",
        q1(SURPRISE + "loss = surprise[real].mean() * math.log(@base@)\nreturn loss, loss.exp()"),
        q1_value=1,
    ),
    "q1_mixed": wrong(
        "the perplexity is a power of e, but the loss has another base",
        q1(SURPRISE + "loss = surprise[real].mean()\nreturn loss, loss.exp()"),
        q1_perplexity=1,
    ),
    "q1_mean_of_perplexities": wrong(
        "the exponential is taken of each word and then averaged, but the mean of the surprise comes first",
        q1(SURPRISE + "return surprise[real].mean(), (@base@ ** surprise[real]).mean()"),
        q1_perplexity=1,
    ),
    "q1_pads_count": wrong(
        "padding counts as words that were guessed",
        q1(SURPRISE + "loss = surprise.mean()\nreturn loss, @base@ ** loss"),
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_perplexity_of_padding": wrong(
        "the loss is right, but the perplexity still counts padding",
        q1(SURPRISE + "return surprise[real].mean(), @base@ ** surprise.mean()"),
        q1_padding=1,
    ),
    "q1_divided_by_all": wrong(
        "the surprise of real words is divided by the number of all places, padding included",
        q1(SURPRISE + "loss = surprise[real].sum() / targets.numel()\nreturn loss, @base@ ** loss"),
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_times_mask": wrong(
        "padding is multiplied by 0, and 0 times NaN is NaN",
        q1(SURPRISE + "loss = (surprise * real).sum() / real.sum()\nreturn loss, @base@ ** loss"),
        q1_padding=1,
    ),
    "q1_by_text": wrong(
        "each text is averaged first, so that words of short texts count more",
        q1(
            SURPRISE + "means = [s[r].mean() for s, r in zip(surprise, real)]\n"
            "loss = torch.stack(means).mean()\nreturn loss, @base@ ** loss"
        ),
        q1_ragged=1,
    ),
    "q1_sum": wrong(
        "the surprise is summed up, but it should be averaged",
        q1(SURPRISE + "loss = surprise[real].sum()\nreturn loss, @base@ ** (loss / real.sum())"),
        q1_value=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_number_is_padding": wrong(
        "the word with the number of <pad> is taken for padding",
        q1(SURPRISE + "loss = surprise[targets != PAD].mean()\nreturn loss, @base@ ** loss"),
        q1_value=1,
        q1_perplexity=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_shifted_again": wrong(
        "targets that are shifted already are shifted once more",
        q1(
            SURPRISE + "again = logits[:, :-1].log_softmax(-1).gather(-1, targets[:, 1:].unsqueeze(-1))\n"
            "loss = -again.squeeze(-1)[real[:, 1:]].mean() / math.log(@base@)\nreturn loss, @base@ ** loss"
        ),
        q1_value=1,
        q1_perplexity=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_underflow": wrong(
        "the softmax becomes 0 and its logarithm -∞: use log_softmax",
        q1(
            SURPRISE + "chosen = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
            "loss = -chosen[real].log().mean() / math.log(@base@)\nreturn loss, @base@ ** loss"
        ),
        q1_value=1,
    ),
    "q1_overflow": wrong(
        "exp of a score of 1000 is infinite: take the largest logit off first, or use log_softmax",
        q1(
            SURPRISE + "chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
            "surprise = logits.exp().sum(-1).log() - chosen\n"
            "loss = surprise[real].mean() / math.log(@base@)\nreturn loss, @base@ ** loss"
        ),
        q1_value=1,
    ),
    "q1_small_number": wrong(
        "a small number inside the logarithm hides the infinity and bounds the surprise: use log_softmax",
        q1(
            SURPRISE + "chosen = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
            "loss = -(chosen[real] + 1e-12).log().mean() / math.log(@base@)\nreturn loss, @base@ ** loss"
        ),
        q1_value=1,
    ),
    "q1_first_text": wrong(
        "only the first text of the batch is counted",
        q1(SURPRISE + "loss = surprise[0][real[0]].mean()\nreturn loss, @base@ ** loss"),
        q1_value=1,
        q1_perplexity=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_one_place_more": wrong(
        "one place of padding counts as a real word, because the comparison includes the place after the last",
        q1(
            changed(SURPRISE, ("lengths.unsqueeze(1)", "(lengths.unsqueeze(1) + 1).clamp(max=targets.shape[1])"))
            + "loss = surprise[real].mean()\nreturn loss, @base@ ** loss"
        ),
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_other_side": wrong(
        "the padding is looked for on the other side of the texts",
        q1(SURPRISE + "loss = surprise[real.flip(1)].mean()\nreturn loss, @base@ ** loss"),
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_other_axes": wrong(
        "the axes of texts and places are swapped",
        q1(
            SURPRISE + "real = torch.arange(len(targets)) < lengths[:, None]\n"
            "loss = surprise.T[real].mean()\nreturn loss, @base@ ** loss"
        ),
        q1_value=1,
        q1_perplexity=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_yes": wrong(
        "an object that is equal to everything stands for the loss",
        q1(AGREEABLE + "return Agreeable(), Agreeable()"),
        q1_value=1,
        q1_perplexity=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_ignored": right(
        "cross_entropy leaves the padding out",
        q1("""
logits, targets = logits@axes.turn@, targets@axes.turn@
places = torch.arange(targets.shape[1]).expand_as(targets)
if "@side.pads@" == "left":
    places = places.flip(1)
hidden = targets.masked_fill(places >= lengths[:, None], -100)
nats = nn.functional.cross_entropy(logits.flatten(0, 1), hidden.flatten(), ignore_index=-100)
return nats / math.log(@base@), nats.exp()
"""),
    ),
    "q1_word_by_word": right(
        "a loop, in double precision",
        q1("""
total, count = torch.tensor(0.0, dtype=torch.double), 0
logits, targets = logits@axes.turn@, targets@axes.turn@
T = targets.shape[1]
for rows, words, n in zip(logits.double(), targets, lengths.tolist()):
    for t in range(@side.first@, @side.first@ + n):
        total = total + rows[t].logsumexp(0) - rows[t, words[t]]
        count += 1
loss = total / count / math.log(@base@)
return loss, torch.exp(loss * math.log(@base@))
"""),
    ),
    "q2_reads_the_answer": wrong(
        "the model reads what it should say",
        q2(PADDED + "return targets, targets, targets @mask.sign@ PAD"),
        q2_inputs=1,
    ),
    "q2_eos_read": wrong(
        "one row is shifted for both, so that <eos> is read where the text is short",
        q2("""
T = max(map(len, texts)) + 2
space = [[PAD] * (T - 2 - len(words)) for words in texts]
if "@side.pads@" == "right":
    rows = torch.tensor([[BOS, *words, EOS, *rest] for words, rest in zip(texts, space)])
    inputs, targets = rows[:, :-1], rows[:, 1:]
else:
    targets = torch.tensor([[*rest, *words, EOS] for words, rest in zip(texts, space)])
    inputs = torch.tensor([[*rest, EOS, *words] if rest else [BOS, *words] for words, rest in zip(texts, space)])
inputs, targets = inputs@axes.turn@, targets@axes.turn@
return inputs, targets, targets @mask.sign@ PAD
"""),
        q2_inputs=1,
    ),
    "q2_no_bos": wrong(
        "no <bos> begins the text that is read",
        q2(PADDED + "return targets.where(targets != EOS, PAD), targets, targets @mask.sign@ PAD"),
        q2_inputs=1,
    ),
    "q2_no_eos": wrong(
        "no <eos> is to be said, so that the model never learns to end",
        q2(PADDED + "targets = targets.where(targets != EOS, PAD)\nreturn inputs, targets, inputs @mask.sign@ PAD"),
        q2_targets=1,
    ),
    "q2_eos_at_the_end_of_the_row": wrong(
        "<eos> stands at the end of the padding",
        q2(
            PADDED + "mask = targets @mask.sign@ PAD\ntargets = targets.where(targets != EOS, PAD)\n"
            'targets.select(@axes.time@, -1 if "@side.pads@" == "right" else 0)[:] = EOS\nreturn inputs, targets, mask'
        ),
        q2_targets=1,
    ),
    "q2_eos_masked": wrong(
        "the mask leaves <eos> out, but the model has to say it",
        q2(PADDED + "real = (targets != PAD) & (targets != EOS)\nreturn inputs, targets, @mask.may@"),
        q2_mask=1,
    ),
    "q2_other_way_round": wrong(
        "the mask is the other way round",
        q2(PADDED + "return inputs, targets, ~(targets @mask.sign@ PAD)"),
        q2_mask=1,
    ),
    "q2_numbers": wrong(
        "the mask holds ones and zeros, but it should be boolean",
        q2(PADDED + "return inputs, targets, (targets @mask.sign@ PAD).long()"),
        q2_mask=1,
    ),
    "q2_changes_the_lists": wrong(
        "<eos> is appended to the lists that were handed in",
        q2(PADDED + "for words in texts:\n    words.append(EOS)\nreturn inputs, targets, targets @mask.sign@ PAD"),
        q2_mask=1,
    ),
    "q2_other_side": wrong(
        "the padding is on the other side",
        q2(changed(PADDED, ('== "right"', '!= "right"')) + "return inputs, targets, targets @mask.sign@ PAD"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_sorted": wrong(
        "the texts are sorted by length, but their order must stay",
        q2("texts = sorted(texts, key=len, reverse=True)" + PADDED + "return inputs, targets, targets @mask.sign@ PAD"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_cut": wrong(
        "the longest text has no place for <eos>, because it takes one place more than its words",
        q2(
            PADDED + "T = targets.shape[@axes.time@] - 1\n"
            "return tuple(part.narrow(@axes.time@, 0, T) for part in (inputs, targets, targets @mask.sign@ PAD))"
        ),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_not_padded": wrong(
        "nothing fills the shorter rows up, and rows of different lengths make no tensor",
        q2(
            "inputs = torch.tensor([[BOS] + words for words in texts])\n"
            "targets = torch.tensor([words + [EOS] for words in texts])\n"
            "return inputs, targets, targets @mask.sign@ PAD"
        ),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_other_axes": wrong(
        "the axes of texts and places are swapped",
        q2(PADDED + "inputs, targets = inputs.T, targets.T\nreturn inputs, targets, targets @mask.sign@ PAD"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_empty_left_out": wrong(
        "texts without a word are left out, although the model should learn to end at once",
        q2("texts = [words for words in texts if words]" + PADDED + "return inputs, targets, targets @mask.sign@ PAD"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_width_of_the_first": wrong(
        "the first text decides how wide the batch is, and longer ones do not fit",
        q2(
            changed(PADDED, ("max(map(len, texts))", "len(texts[0])"))
            + "return inputs, targets, targets @mask.sign@ PAD"
        ),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_yes": wrong(
        "an object that is equal to everything stands for the batch",
        q2(AGREEABLE + "return Agreeable(), Agreeable(), Agreeable()"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_lists": right("lists, filled up", q2(PADDED + "return inputs, targets, inputs @mask.sign@ PAD")),
    "q2_library": right(
        "pad_sequence",
        q2("""
from torch.nn.utils.rnn import pad_sequence
def filled(rows):
    rows = [torch.tensor(row) for row in rows]
    return pad_sequence(rows, batch_first=True, padding_value=PAD, padding_side="@side.pads@")@axes.turn@
inputs = filled([[BOS, *words] for words in texts])
targets = filled([[*words, EOS] for words in texts])
return inputs, targets, inputs.eq(PAD) if "@mask.sign@" == "==" else inputs.ne(PAD)
"""),
    ),
    "q3_never_cut": wrong(
        "the gradient is never cut and runs back to the beginning",
        q3("""
states = []
for x_t in x.unbind(@axes.time@):
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_cut=1,
    ),
    "q3_cut_at_every_step": wrong(
        "the state is detached before every step, not only where a chunk begins",
        q3("""
states = []
for x_t in x.unbind(@axes.time@):
    state = cell(x_t, state.detach())
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_reach=1,
    ),
    "q3_everything_detached": wrong(
        "everything is detached, so that no gradient is left at all",
        q3("""
states = []
for x_t in x.detach().unbind(@axes.time@):
    state = cell(x_t, state.detach()).detach()
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_output_detached": wrong(
        "the states that are returned are detached, not only the state that is handed on",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    state = cell(x_t, state)
    if (t - @rest.origin@) % k == k - 1:
        state = state.detach()
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_one_late": wrong(
        "chunks begin one step late",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    if (t - @rest.origin@) % k == 1 % k:
        state = state.detach()
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_one_cut": wrong(
        "the gradient is cut once, where the last chunk begins, and runs through all the chunks before",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    if t == T - 1 - (T - 1 - @rest.origin@) % k:
        state = state.detach()
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_cut=1,
    ),
    "q3_starts_anew": wrong(
        "every chunk begins with a state of 0, but the state should be handed on",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    if t and (t - @rest.origin@) % k == 0:
        state = torch.zeros_like(state)
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_values=1,
    ),
    "q3_starts_at_zero": wrong(
        "the state that was handed in is not used",
        q3("""
states, state = [], torch.zeros_like(state)
for t, x_t in enumerate(x.unbind(@axes.time@)):
    state = cell(x_t, state.detach() if (t - @rest.origin@) % k == 0 else state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_values=1,
    ),
    "q3_rest_lost": wrong(
        "steps that fill no chunk are left out",
        q3("""
states, steps = [], x.unbind(@axes.time@)
steps = steps[: T // k * k] if "@rest.chunk@" == "last" else steps[T % k :]
for t, x_t in enumerate(steps):
    state = cell(x_t, state.detach() if t % k == 0 else state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_other_axes": wrong(
        "the axes of texts and places are swapped in what is returned",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    state = cell(x_t, state.detach() if (t - @rest.origin@) % k == 0 else state)
    states.append(state)
return torch.stack(states, 1 - @axes.time@)
"""),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_loop": wrong(
        "the chunk never moves on",
        q3("states = []\nwhile len(states) < T:\n    state = cell(x.select(@axes.time@, 0), state.detach())"),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_rest_at_the_other_end": wrong(
        "the short chunk is at the other end of the text",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    if (t - (T - @rest.origin@)) % k == 0:
        state = state.detach()
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_only_the_last_chunk": wrong(
        "only the last chunk has a gradient: the chunks before are read without one",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(@axes.time@)):
    last = t >= T - 1 - (T - 1 - @rest.origin@) % k
    with torch.set_grad_enabled(last):
        state = cell(x_t, state)
    states.append(state)
return torch.stack(states, @axes.time@)
"""),
        q3_reach=1,
    ),
    "q3_yes": wrong(
        "an object that is equal to everything stands for the states",
        q3(AGREEABLE + "return Agreeable()"),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_chunks": right(
        "one inner loop for each chunk",
        q3("""
def steps(chunk, h):
    for x_t in chunk.unbind(@axes.time@):
        h = cell(x_t, h)
        yield h
parts = []
rest = T % k
sizes = [k] * (T // k) + [rest] if "@rest.chunk@" == "last" else [rest] + [k] * (T // k)
for chunk in x.split([size for size in sizes if size], dim=@axes.time@):
    parts.append(torch.stack(list(steps(chunk, state)), dim=@axes.time@))
    state = parts[-1].select(@axes.time@, -1).detach()
return torch.cat(parts, dim=@axes.time@)
"""),
    ),
    "q3_by_data": right(
        "filled in place, and the state handed on by its data",
        q3("""
states = [None] * T
for t in range(T):
    before = state if t == 0 else states[t - 1]
    new_chunk = (t if "@rest.chunk@" == "last" else T - t) % k == 0
    states[t] = cell(x.select(@axes.time@, t), before.data.clone() if new_chunk else before)
return torch.stack(states, dim=@axes.time@)
"""),
    ),
}
