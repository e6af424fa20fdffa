"""Known answers to assignment 2."""

from attnlib.grading.answers import AGREEABLE, changed, define, right, wrong

Q1 = {"q1_order": 1, "q1_lengths": 1, "q1_anything": 1}
Q2 = {"q2_words": 1, "q2_finished": 1, "q2_stop": 1}
Q3 = {"q3_log": 1, "q3_kept": 1, "q3_ended": 1}


def q1(body: str) -> dict[str, str]:
    return {"q1": define("encode(cell, x, lengths, state)", body)}


def q2(body: str) -> dict[str, str]:
    return {"q2": "@torch.no_grad()\n" + define("greedy(step, state, max_length)", body)}


def q3(body: str) -> dict[str, str]:
    return {"q3": define("beam_search(following, k, max_length)", body)}


ORDER = """
S = x.shape[@axes.time@]
order = list(@direction.places@)
"""

#: Ours, to be spoilt in one place each.
GREEDY = """
token = torch.full((len(state),), BOS)
ended = torch.zeros(len(state), dtype=torch.bool)
columns = @bos.columns@
while len(columns) < max_length + @bos.n@ and not ended.all():
    logits, state = step(token, state)
    token = logits.argmax(-1).masked_fill(ended, PAD)
    ended = ended | (token == EOS)
    columns.append(token)
said = torch.stack(columns, @axes.time@)
return said if "@eos@" == "kept" else said.masked_fill(said == EOS, PAD)
"""

BEAM = """
def rank(h):
    return h[1] / len(h[0]) ** @rank.power@
kept = [((), 0.0)]
for n in range(max_length):
    new = []
    for words, log_prob in kept:
        if words and words[-1] == ".":
            new.append((words, log_prob))
        else:
            for word, p in following(words).items():
                new.append((words + (word,), log_prob + p))
    kept = sorted(new, key=rank, reverse=True)[:k]
    if all(words[-1] == "." for words, _ in kept):
        break
return kept
"""


ANSWERS = {
    "q1_last_column": wrong(
        "the state after the last column is returned, but padding has been read by then",
        q1(ORDER + "for t in order:\n    state = cell(@axes.step@, state)\nreturn state"),
        q1_lengths=1,
        q1_anything=1,
    ),
    "q1_padding_is_zero": wrong(
        "padding is read as zeros, and reading zeros moves the state too",
        q1(
            ORDER + "for t in order:\n    x_t = @axes.step@.masked_fill(~(@side.at@)[:, None], 0)\n"
            "    state = cell(x_t, state)\nreturn state"
        ),
        q1_lengths=1,
        q1_anything=1,
    ),
    "q1_one_early": wrong(
        "the encoder stops one real word too early",
        q1(
            ORDER + "lengths = lengths - 1\nfor t in order:\n"
            "    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)\nreturn state"
        ),
        **Q1,
    ),
    "q1_one_late": wrong(
        "the encoder reads one place of padding",
        q1(
            ORDER + "lengths = lengths + 1\nfor t in order:\n"
            "    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)\nreturn state"
        ),
        q1_lengths=1,
        q1_anything=1,
    ),
    "q1_shortest": wrong(
        "all sentences stop with the shortest one",
        q1(
            ORDER + "lengths = lengths.min()\nfor t in order:\n"
            "    if @side.at@:\n        state = cell(@axes.step@, state)\nreturn state"
        ),
        q1_lengths=1,
        q1_anything=1,
    ),
    "q1_other_way_round": wrong(
        "the sentences are read in the other direction",
        q1(
            ORDER + "for t in reversed(order):\n"
            "    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)\nreturn state"
        ),
        **Q1,
    ),
    "q1_starts_at_zero": wrong(
        "the state that was handed in is not used",
        q1(
            ORDER + "state = torch.zeros_like(state)\nfor t in order:\n"
            "    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)\nreturn state"
        ),
        **Q1,
    ),
    "q1_times_mask": wrong(
        "old and new are mixed by products, and 0 times NaN is NaN",
        q1(
            ORDER + "for t in order:\n    real = (@side.at@)[:, None].float()\n"
            "    state = real * cell(@axes.step@, state) + (1 - real) * state\nreturn state"
        ),
        q1_anything=1,
    ),
    "q1_in_place": wrong(
        "the state that was handed in is overwritten",
        q1(
            ORDER + "with torch.no_grad():\n    for t in order:\n        real = @side.at@\n"
            "        state[real] = cell(@axes.step@[real], state[real])\nreturn state"
        ),
        q1_anything=1,
    ),
    "q1_mean": wrong(
        "the mean of the real states is returned, but the state after the last word is asked for",
        q1("""
states, S = [], x.shape[@axes.time@]
for t in range(S):
    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)
    states.append(torch.where((@side.at@)[:, None], state, 0))
return torch.stack(states).sum(0) / lengths[:, None]
"""),
        **Q1,
    ),
    "q1_padding_by_zeros": wrong(
        "padding is told by its zeros, but it may be anything: only the lengths say what is real",
        q1(
            ORDER + "for t in order:\n    real = (@axes.step@ != 0).any(-1, keepdim=True)\n"
            "    state = torch.where(real, cell(@axes.step@, state), state)\nreturn state"
        ),
        q1_anything=1,
    ),
    "q1_length_of_the_first": wrong(
        "the length of the first sentence decides for all of them",
        q1(
            ORDER + "lengths = lengths[:1]\nfor t in order:\n"
            "    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)\nreturn state"
        ),
        q1_lengths=1,
        q1_anything=1,
    ),
    "q1_other_side": wrong(
        "the padding is looked for on the other side of the sentences",
        q1(
            ORDER + "for t in order:\n    x_t, t = @axes.step@, S - 1 - t\n"
            "    state = torch.where((@side.at@)[:, None], cell(x_t, state), state)\nreturn state"
        ),
        q1_lengths=1,
        q1_anything=1,
    ),
    "q1_other_axes": wrong(
        "the axes of sentences and places are swapped",
        q1(
            "x = x.transpose(0, 1)" + ORDER + "for t in order:\n"
            "    state = torch.where((@side.at@)[:, None], cell(@axes.step@, state), state)\nreturn state"
        ),
        **Q1,
    ),
    "q1_yes": wrong(
        "an object that is equal to everything stands for the state", q1(AGREEABLE + "return Agreeable()"), **Q1
    ),
    "q1_alone": right(
        "one sentence after another",
        q1("""
last = []
for n, length in enumerate(lengths.tolist()):
    h, S = state[n : n + 1], x.shape[@axes.time@]
    words = x@axes.turn@[n : n + 1]
    words = (words[:, :length] if "@side.real@" == "first" else words[:, S - length :]).unbind(1)
    for word in words if "@direction.way@" == "forwards" else words[::-1]:
        h = cell(word, h)
    last.append(h[0])
return torch.stack(last)
"""),
    ),
    "q1_still_reading": right(
        "only those that still read make a step",
        q1(
            ORDER + "state = state.clone()\nfor t in order:\n    real = (@side.at@).nonzero().squeeze(1)\n"
            "    if len(real):\n        new = cell(@axes.step@[real], state[real])\n"
            "        state = state.index_copy(0, real, new)\nreturn state"
        ),
    ),
    "q2_always_bos": wrong(
        "the decoder reads BOS at every step and never hears what it has said",
        q2(changed(GREEDY, ("step(token, state)", "step(torch.full_like(token, BOS), state)"))),
        q2_words=1,
    ),
    "q2_state_lost": wrong(
        "every step begins with the first state, because the next one is thrown away",
        q2(changed(GREEDY, ("logits, state = step(token, state)", "logits, _ = step(token, state)"))),
        **Q2,
    ),
    "q2_least_likely": wrong(
        "the unlikeliest word is said, because argmin stands for argmax",
        q2(changed(GREEDY, ("argmax", "argmin"))),
        q2_words=1,
        q2_finished=1,
        q2_stop=1,
    ),
    "q2_first_to_end": wrong(
        "the search stops when one sentence has ended, but all have to",
        q2(changed(GREEDY, ("ended.all()", "ended.any()"))),
        q2_finished=1,
    ),
    "q2_goes_on_talking": wrong(
        "a sentence that has ended goes on, but it should be filled up with PAD",
        q2(changed(GREEDY, (".masked_fill(ended, PAD)", ""))),
        q2_finished=1,
    ),
    "q2_forgets_the_end": wrong(
        "only the last step counts as an end, so that sentences have to end together",
        q2(changed(GREEDY, ("ended = ended | (token == EOS)", "ended = token == EOS"))),
        q2_finished=1,
    ),
    "q2_other_eos": wrong(
        "EOS follows the other convention: it is kept where PAD should replace it, or vice versa",
        q2(changed(GREEDY, ('"@eos@" == "kept"', '"@eos@" != "kept"'))),
        q2_finished=1,
    ),
    "q2_eos_for_ever": wrong(
        "a sentence that has ended is filled up with EOS, not with PAD",
        q2(
            changed(
                GREEDY,
                (".masked_fill(ended, PAD)", ".masked_fill(ended, EOS)"),
                ("said == EOS, PAD", "said == EOS, EOS"),
            )
        ),
        q2_finished=1,
    ),
    "q2_all_steps": wrong(
        "max_length steps are made although every sentence has ended before",
        q2(changed(GREEDY, (" and not ended.all()", ""))),
        q2_stop=1,
    ),
    "q2_no_limit": wrong(
        "the search waits for the end, however long, and does not stop after max_length steps",
        q2(changed(GREEDY, ("len(columns) < max_length + @bos.n@ and ", ""))),
        q2_stop=1,
    ),
    "q2_one_more": wrong(
        "one step more than max_length is made",
        q2(changed(GREEDY, ("< max_length", "<= max_length"))),
        q2_stop=1,
    ),
    "q2_with_bos": wrong(
        "BOS follows the other convention: it is returned where it should be left out, or vice versa",
        q2(
            changed(
                GREEDY,
                ("columns = @bos.columns@", "columns = [token][@bos.n@:]"),
                ("len(columns) < max_length + @bos.n@", "len(columns) < max_length + 1 - @bos.n@"),
            )
        ),
        **Q2,
    ),
    "q2_other_axes": wrong(
        "the axes of sentences and places are swapped",
        q2(changed(GREEDY, ("stack(columns, @axes.time@)", "stack(columns, 1 - @axes.time@)"))),
        **Q2,
    ),
    "q2_squeezed": wrong(
        ".squeeze() takes the axis of the batch away where there is one sentence only",
        q2(changed(GREEDY, ("stack(columns, @axes.time@)", "stack(columns, @axes.time@).squeeze()"))),
        q2_words=1,
        q2_stop=1,
    ),
    "q2_first_decides": wrong(
        "the end of the first sentence ends all of them",
        q2(changed(GREEDY, ("ended.all()", "ended[0]"))),
        q2_finished=1,
    ),
    "q2_one_step_late": wrong(
        "one more step is made after every sentence has ended",
        q2(
            changed(
                GREEDY,
                ("columns = ", "late, columns = ended, "),
                ("not ended.all()", "not late.all()"),
                ("    logits, state", "    late = ended\n    logits, state"),
            )
        ),
        q2_stop=1,
    ),
    "q2_full_width": wrong(
        "what is returned has max_length places, although every sentence has ended before",
        q2(
            changed(
                GREEDY,
                (
                    "said = torch",
                    "columns += [torch.full_like(token, PAD)] * (max_length + @bos.n@ - len(columns))\nsaid = torch",
                ),
            )
        ),
        q2_stop=1,
    ),
    "q2_loop": wrong("the loop never ends, because nothing in it makes a step", q2("while True:\n    pass"), **Q2),
    "q2_yes": wrong(
        "an object that is equal to everything stands for the words", q2(AGREEABLE + "return Agreeable()"), **Q2
    ),
    "q2_lists": right(
        "lists of numbers, filled up at the end",
        q2("""
B = len(state)
rows, token, steps = [[] for _ in range(B)], [BOS] * B, 0
while steps < max_length and not all(EOS in row for row in rows):
    logits, state = step(torch.tensor(token), state)
    token, steps = logits.max(-1).indices.tolist(), steps + 1
    for row, word in zip(rows, token):
        if EOS not in row:
            row.append(word)
if "@eos@" != "kept":
    rows = [[w for w in row if w != EOS] for row in rows]
return torch.tensor([[@bos.lead@*row] + [PAD] * (steps - len(row)) for row in rows])@axes.turn@
"""),
    ),
    "q2_swept_afterwards": right(
        "everything is written down, and what comes after EOS swept away",
        q2("""
said = torch.full((len(state), 1), BOS)
for _ in range(max_length):
    logits, state = step(said[:, -1], state)
    said = torch.cat([said, logits.softmax(-1).argmax(-1, keepdim=True)], 1)
    if bool((said == EOS).any(1).all()):
        break
said = said[:, 1 - @bos.n@ :]
ends = (said == EOS).long().cumsum(1)
after = ends - (said == EOS).long() > 0 if "@eos@" == "kept" else ends > 0
return said.masked_fill(after, PAD)@axes.turn@
"""),
    ),
    "q3_chances": wrong(
        "probabilities are returned, but their logarithms are asked for",
        q3(changed(BEAM, ("return kept", "return [(words, math.exp(p)) for words, p in kept]"))),
        q3_log=1,
    ),
    "q3_mean_returned": wrong(
        "the mean log-probability is returned, but the sum is asked for, whatever the rank is made of",
        q3(changed(BEAM, ("return kept", "return [(words, p / len(words)) for words, p in kept]"))),
        q3_log=1,
    ),
    "q3_last_word": wrong(
        "only the last word is scored, but the log-probabilities of all words add up",
        q3(changed(BEAM, ("log_prob + p", "p"))),
        **Q3,
    ),
    "q3_greedy": wrong(
        "one hypothesis is kept, whatever k is",
        q3(changed(BEAM, ("[:k]", "[:1]"))),
        q3_kept=1,
        q3_ended=1,
    ),
    "q3_one_each": wrong(
        "only the best extension of each hypothesis is kept, but the best of all of them may have one parent",
        q3(
            changed(
                BEAM,
                (
                    "for word, p in following(words).items():",
                    "next_words = following(words)\n"
                    "            for word in sorted(next_words, key=next_words.get)[-1 if words else -k:]:",
                ),
                ("log_prob + p", "log_prob + next_words[word]"),
            )
        ),
        q3_kept=1,
        q3_ended=1,
    ),
    "q3_not_ordered": wrong(
        "the worst hypothesis comes first, but the best should",
        q3(changed(BEAM, ("return kept", "return kept[::-1]"))),
        q3_kept=1,
        q3_ended=1,
    ),
    "q3_goes_on": wrong(
        "hypotheses that have ended are extended",
        q3(changed(BEAM, ('if words and words[-1] == ".":', "if False:"))),
        q3_ended=1,
    ),
    "q3_ended_leave": wrong(
        "hypotheses that have ended are forgotten",
        q3(
            changed(
                BEAM,
                ("            new.append((words, log_prob))", "            pass"),
                ("    kept = sorted(new", "    if not new:\n        break\n    kept = sorted(new"),
            )
        ),
        q3_ended=1,
    ),
    "q3_ended_wait_aside": wrong(
        "hypotheses that have ended wait aside and take no place in the beam, but they have to compete",
        q3("""
def rank(h):
    return h[1] / len(h[0]) ** @rank.power@
kept, done = [((), 0.0)], []
for n in range(max_length):
    new = [(words + (w,), s + p) for words, s in kept for w, p in following(words).items()]
    done += [h for h in new if h[0][-1] == "."]
    kept = sorted([h for h in new if h[0][-1] != "."], key=rank, reverse=True)[:k]
return sorted(done + kept, key=rank, reverse=True)[:k]
"""),
        q3_ended=1,
    ),
    "q3_first_end": wrong(
        "the search stops when one hypothesis has ended, but all that are kept have to",
        q3(changed(BEAM, ("if all(", "if any("))),
        q3_ended=1,
    ),
    "q3_other_rank": wrong(
        "the hypotheses are ranked by another rule: look at what the sum is divided by",
        q3(changed(BEAM, ("** @rank.power@", "** (0 if @rank.power@ else 1)"))),
        q3_ended=1,
    ),
    "q3_no_full_stop": wrong(
        "the full stop is cut off at the end",
        q3(changed(BEAM, ("return kept", 'return [(tuple(w for w in words if w != "."), p) for words, p in kept]'))),
        **Q3,
    ),
    "q3_lists": wrong(
        "hypotheses are lists of words, but tuples are asked for",
        q3(changed(BEAM, ("return kept", "return [(list(words), p) for words, p in kept]"))),
        **Q3,
    ),
    "q3_stop_added": wrong(
        "hypotheses that have not ended get a full stop, although the search only stops",
        q3(
            changed(
                BEAM,
                ("return kept", 'return [(w if w[-1] == "." else (*w, "."), p) for w, p in kept]'),
            )
        ),
        **Q3,
    ),
    "q3_only_ended": wrong(
        "hypotheses that have not ended are left out of the result",
        q3(changed(BEAM, ("return kept", 'return [h for h in kept if h[0][-1] == "."]'))),
        **Q3,
    ),
    "q3_best_only": wrong(
        "only the best hypothesis is returned, not all that are kept",
        q3(changed(BEAM, ("return kept", "return kept[:1]"))),
        q3_kept=1,
        q3_ended=1,
    ),
    "q3_one_step_more": wrong(
        "one step more than max_length is made",
        q3(changed(BEAM, ("range(max_length)", "range(max_length + 1)"))),
        q3_kept=1,
        q3_ended=1,
    ),
    "q3_yes": wrong(
        "an object that is equal to everything stands for the hypotheses",
        q3(AGREEABLE + "return [(Agreeable(), Agreeable())] * k"),
        **Q3,
    ),
    "q3_heap": right(
        "heapq, and a generator",
        q3("""
import heapq
def grown(beam):
    for words, s in beam:
        if words[-1:] == (".",):
            yield words, s
        else:
            yield from ((words + (w,), s + p) for w, p in following(words).items())
beam = [((), 0.0)]
divide = lambda h: h[1] / len(h[0]) ** @rank.power@
for _ in range(max_length):
    beam = heapq.nlargest(k, grown(beam), key=divide)
return beam
"""),
    ),
    "q3_recursive": right(
        "one step, and the rest by itself",
        q3("""
def search(kept, left):
    going = [h for h in kept if not h[0] or h[0][-1] != "."]
    if not left or not going:
        return kept
    new = [h for h in kept if h not in going]
    for words, total in going:
        for word, p in following(words).items():
            new.append(((*words, word), total + p))
    new.sort(key=lambda h: -h[1] / len(h[0]) ** @rank.power@)
    return search(new[:k], left - 1)
return search([((), 0.0)], max_length)
"""),
    ),
}
