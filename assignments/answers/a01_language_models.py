"""Known answers to assignment 1."""

from attnlib.grading.answers import AGREEABLE, define, right, wrong


def q1(body: str) -> dict[str, str]:
    return {"q1": define("loss_and_perplexity(logits, targets, lengths)", body)}


def q2(body: str) -> dict[str, str]:
    return {"q2": define("make_batch(texts)", body)}


def q3(body: str) -> dict[str, str]:
    return {"q3": define("read(cell, x, state, k)", body)}


SURPRISE = """
real = torch.arange(targets.shape[1]) < lengths.unsqueeze(1)
surprise = -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1) / math.log(@base@)
"""

PADDED = """
def filled(words):
    space = [PAD] * (max(map(len, texts)) + 1 - len(words))
    return words + space if "@side@" == "right" else space + words
inputs = torch.tensor([filled([BOS] + words) for words in texts])
targets = torch.tensor([filled(words + [EOS]) for words in texts])
"""

ANSWERS = {
    "q1_nats": wrong(
        "the loss in nats",
        q1(SURPRISE + "loss = surprise[real].mean() * math.log(@base@)\nreturn loss, loss.exp()"),
        q1_value=1,
    ),
    "q1_mixed": wrong(
        "e to the power of a loss to another base",
        q1(SURPRISE + "loss = surprise[real].mean()\nreturn loss, loss.exp()"),
        q1_perplexity=1,
    ),
    "q1_mean_of_perplexities": wrong(
        "first the exponential, then the mean",
        q1(SURPRISE + "return surprise[real].mean(), (@base@ ** surprise[real]).mean()"),
        q1_perplexity=1,
    ),
    "q1_pads_count": wrong(
        "padding counts",
        q1(SURPRISE + "loss = surprise.mean()\nreturn loss, @base@ ** loss"),
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_perplexity_of_padding": wrong(
        "the loss is right, the perplexity counts padding",
        q1(SURPRISE + "return surprise[real].mean(), @base@ ** surprise.mean()"),
        q1_padding=1,
    ),
    "q1_divided_by_all": wrong(
        "real surprise, divided by all places",
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
        "the mean of the means of texts",
        q1(
            SURPRISE + "means = [s[r].mean() for s, r in zip(surprise, real)]\n"
            "loss = torch.stack(means).mean()\nreturn loss, @base@ ** loss"
        ),
        q1_ragged=1,
    ),
    "q1_sum": wrong(
        "the sum, not the mean",
        q1(SURPRISE + "loss = surprise[real].sum()\nreturn loss, @base@ ** (loss / real.sum())"),
        q1_value=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_number_is_padding": wrong(
        "word 0 is taken for padding",
        q1(SURPRISE + "loss = surprise[targets != 0].mean()\nreturn loss, @base@ ** loss"),
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
        "the logarithm of a softmax that has become 0",
        q1(
            SURPRISE + "chosen = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)\n"
            "loss = -chosen[real].log().mean() / math.log(@base@)\nreturn loss, @base@ ** loss"
        ),
        q1_value=1,
    ),
    "q1_yes": wrong(
        "equal to everything",
        q1(AGREEABLE + "return Agreeable(), Agreeable()"),
        q1_value=1,
        q1_perplexity=1,
        q1_padding=1,
        q1_ragged=1,
    ),
    "q1_ignored": right(
        "cross_entropy leaves the padding out",
        q1("""
places = torch.arange(targets.shape[1]).expand_as(targets)
hidden = targets.masked_fill(places >= lengths[:, None], -100)
nats = nn.functional.cross_entropy(logits.flatten(0, 1), hidden.flatten(), ignore_index=-100)
return nats / math.log(@base@), nats.exp()
"""),
    ),
    "q1_word_by_word": right(
        "a loop, in double precision",
        q1("""
total, n = torch.tensor(0.0, dtype=torch.double), 0
for rows, words, T in zip(logits.double(), targets, lengths.tolist()):
    for t in range(T):
        total = total + rows[t].logsumexp(0) - rows[t, words[t]]
        n += 1
loss = total / n / math.log(@base@)
return loss, torch.exp(loss * math.log(@base@))
"""),
    ),
    "q2_reads_the_answer": wrong(
        "the model reads what it should say",
        q2(PADDED + "return targets, targets, targets != PAD"),
        q2_inputs=1,
    ),
    "q2_eos_read": wrong(
        "one row, shifted: <eos> is read where the text is short",
        q2("""
T = max(map(len, texts)) + 2
rows = torch.tensor([[BOS] + words + [EOS] + [PAD] * (T - 2 - len(words)) for words in texts])
inputs, targets = rows[:, :-1], rows[:, 1:]
return inputs, targets, targets != PAD
"""),
        q2_inputs=1,
    ),
    "q2_no_bos": wrong(
        "nothing begins the text",
        q2(PADDED + "return targets.where(targets != EOS, PAD), targets, targets != PAD"),
        q2_inputs=1,
    ),
    "q2_no_eos": wrong(
        "the end is never to be said",
        q2(PADDED + "targets = targets.where(targets != EOS, PAD)\nreturn inputs, targets, inputs != PAD"),
        q2_targets=1,
    ),
    "q2_eos_at_the_end_of_the_row": wrong(
        "<eos> stands after the padding",
        q2(
            PADDED + "mask = targets != PAD\ntargets = targets.where(targets != EOS, PAD)\n"
            "targets[:, -1] = EOS\nreturn inputs, targets, mask"
        ),
        q2_targets=1,
    ),
    "q2_eos_masked": wrong(
        "<eos> does not count",
        q2(PADDED + "return inputs, targets, targets > EOS"),
        q2_mask=1,
    ),
    "q2_other_way_round": wrong(
        "the mask is True at padding",
        q2(PADDED + "return inputs, targets, targets == PAD"),
        q2_mask=1,
    ),
    "q2_numbers": wrong(
        "a mask of ones and zeros",
        q2(PADDED + "return inputs, targets, (targets != PAD).long()"),
        q2_mask=1,
    ),
    "q2_changes_the_lists": wrong(
        "<eos> is appended to the lists that were handed in",
        q2(
            "for words in texts:\n    words.append(EOS)\n"
            "T = max(map(len, texts))\n"
            "rows = [words + [PAD] * (T - len(words)) for words in texts]\n"
            "targets = torch.tensor(rows)\n"
            "before = [[BOS] + words[:-1] + [PAD] * (T - len(words)) for words in texts]\n"
            "return torch.tensor(before), targets, targets != PAD"
        ),
        q2_mask=1,
    ),
    "q2_other_side": wrong(
        "padding on the other side",
        q2(PADDED.replace('== "right"', '!= "right"') + "return inputs, targets, targets != PAD"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_sorted": wrong(
        "the longest first",
        q2("texts = sorted(texts, key=len, reverse=True)" + PADDED + "return inputs, targets, targets != PAD"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_cut": wrong(
        "no place for <eos> in the longest text",
        q2(PADDED + "return inputs[:, :-1], targets[:, :-1], (targets != PAD)[:, :-1]"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_not_padded": wrong(
        "rows of different lengths make no tensor",
        q2(
            "inputs = torch.tensor([[BOS] + words for words in texts])\n"
            "targets = torch.tensor([words + [EOS] for words in texts])\n"
            "return inputs, targets, targets != PAD"
        ),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_yes": wrong(
        "equal to everything",
        q2(AGREEABLE + "return Agreeable(), Agreeable(), Agreeable()"),
        q2_inputs=1,
        q2_targets=1,
        q2_mask=1,
    ),
    "q2_lists": right("lists, filled up", q2(PADDED + "return inputs, targets, inputs != PAD")),
    "q2_library": right(
        "pad_sequence",
        q2("""
from torch.nn.utils.rnn import pad_sequence
def filled(rows):
    rows = [torch.tensor(row) for row in rows]
    return pad_sequence(rows, batch_first=True, padding_value=PAD, padding_side="@side@")
inputs = filled([[BOS, *words] for words in texts])
targets = filled([[*words, EOS] for words in texts])
return inputs, targets, filled([[1] * (len(words) + 1) for words in texts]).bool()
"""),
    ),
    "q3_never_cut": wrong(
        "the gradient runs back to the beginning",
        q3("""
states = []
for x_t in x.unbind(1):
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_cut=1,
    ),
    "q3_cut_at_every_step": wrong(
        "the state is detached before every step",
        q3("""
states = []
for x_t in x.unbind(1):
    state = cell(x_t, state.detach())
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_reach=1,
    ),
    "q3_everything_detached": wrong(
        "no gradient at all",
        q3("""
states = []
for x_t in x.detach().unbind(1):
    state = cell(x_t, state.detach()).detach()
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_output_detached": wrong(
        "what the chunk hands out is detached, not only what it hands on",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(1)):
    state = cell(x_t, state)
    if t % k == k - 1:
        state = state.detach()
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_one_late": wrong(
        "chunks begin one step late",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(1)):
    if t % k == 1 % k:
        state = state.detach()
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_last_k_of_the_text": wrong(
        "one cut, k steps before the end",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(1)):
    if t == x.shape[1] - k:
        state = state.detach()
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_cut=1,
    ),
    "q3_starts_anew": wrong(
        "every chunk begins with the state 0",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(1)):
    if t and t % k == 0:
        state = torch.zeros_like(state)
    state = cell(x_t, state)
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_values=1,
    ),
    "q3_starts_at_zero": wrong(
        "the state that was handed in is not used",
        q3("""
states, state = [], torch.zeros_like(state)
for t, x_t in enumerate(x.unbind(1)):
    state = cell(x_t, state.detach() if t % k == 0 else state)
    states.append(state)
return torch.stack(states, 1)
"""),
        q3_values=1,
    ),
    "q3_rest_lost": wrong(
        "steps after the last full chunk are left out",
        q3("""
states = []
for chunk in range(x.shape[1] // k):
    state = state.detach()
    for x_t in x[:, chunk * k : chunk * k + k].unbind(1):
        state = cell(x_t, state)
        states.append(state)
return torch.stack(states, 1)
"""),
        q3_values=1,
    ),
    "q3_time_first": wrong(
        "(T, B, d_hidden)",
        q3("""
states = []
for t, x_t in enumerate(x.unbind(1)):
    state = cell(x_t, state.detach() if t % k == 0 else state)
    states.append(state)
return torch.stack(states)
"""),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_loop": wrong(
        "the chunk never moves on",
        q3("states = []\nwhile len(states) < x.shape[1]:\n    state = cell(x[:, 0], state.detach())"),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_yes": wrong(
        "equal to everything",
        q3(AGREEABLE + "return Agreeable()"),
        q3_values=1,
        q3_cut=1,
        q3_reach=1,
    ),
    "q3_chunks": right(
        "one inner loop for each chunk",
        q3("""
def steps(chunk, h):
    for x_t in chunk.unbind(1):
        h = cell(x_t, h)
        yield h
parts = []
for chunk in x.split(k, dim=1):
    parts.append(torch.stack(list(steps(chunk, state)), dim=1))
    state = parts[-1][:, -1].detach()
return torch.cat(parts, dim=1)
"""),
    ),
    "q3_by_data": right(
        "filled in place, and the state handed on by its data",
        q3("""
states = [None] * x.shape[1]
for t in range(x.shape[1]):
    before = state if t == 0 else states[t - 1]
    states[t] = cell(x[:, t], before.data.clone() if t % k == 0 else before)
return torch.stack(states, dim=1)
"""),
    ),
}
