"""Networks that learn in the page: equal to attnlib's, trained by torch on the same batches from the same weights."""

import itertools

import pytest
import torch
from torch import nn

import attnlib.course.figures
from attnlib.course.figures.learn_to_align import MODELS, TASKS
from attnlib.course.self_attention_encoder import SelfAttentionEncoder
from attnlib.data.vocabulary import BOS, EOS, PAD, SPECIALS
from attnlib.decoders import DECODERS
from attnlib.encoder import Encoder
from attnlib.figures.assets import module
from attnlib.search import greedy_decode
from attnlib.seq2seq import Seq2Seq
from attnlib.training.metrics import alignment_error_rate, hard_alignment
from tests.node import run_in_node

LESSON = module("lesson.js", beside=attnlib.course.figures.__file__)
WIDTH, STEPS, RATE = 16, 50, 0.01
KINDS = [*MODELS.values(), {"encoder": "gru", "decoder": "bahdanau", "score": "general"}]
LEARN = """(() => {
  const { kind, task: name, precise, mask, steps, rate, width } = argument;
  const task = m.newTask(name, 6), random = m.randomNumbers(5), draw = () => task.draw(random);
  const batches = Array.from({ length: steps }, () => m.batchOf(Array.from({ length: 8 }, draw), task.symbols));
  const state = m.firstWeights(kind, { vocabulary: m.FIRST + task.symbols.length, width }, m.randomNumbers(1));
  const learner = m.newLearner(kind, state, { precise });
  learner.mask(mask);
  learner.loss(batches[0]);
  const slopes = Object.fromEntries(Object.entries(learner.parameters).map(([name, { grad }]) => [name, [...grad]]));
  const losses = batches.map((batch) => learner.learn(batch, rate));
  const { source, lengths } = batches[0];
  const written = learner.write(source, lengths, { bos: m.BOS, eos: m.EOS, longest: 7 });
  const grown = Object.fromEntries(Object.entries(learner.parameters).map(([name, { data }]) => [name, [...data]]));
  const bias = learner.parameters["decoder.W_o.bias"].data;
  bias.set([90, 80, -90]); // <pad> and <bos> are likeliest, <eos> is out of the question
  const [never] = learner.write(source, lengths, { bos: m.BOS, eos: m.EOS, longest: 2 });
  return { batches, state, slopes, losses, written, grown, never };
})()"""


class Unmasked(nn.Module):
    """An encoder whose padding is there to be looked at."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.d_annotation = encoder, encoder.d_annotation

    def forward(self, tokens, lengths=None):
        out = self.encoder(tokens, lengths)
        return out._replace(mask=torch.ones_like(out.mask))


def in_attnlib(kind: dict, state: dict, precise: bool) -> Seq2Seq:
    score, vocabulary, embedded = kind["score"], state["decoder.embedding.weight"]["rows"], WIDTH // 2
    if kind["encoder"] == "gru":
        encoder = Encoder(vocabulary, embedded, WIDTH // 2, bidirectional=True)
    else:
        encoder = SelfAttentionEncoder(vocabulary, WIDTH, kind["positions"])
    options = {} if score is None else {"score": score}
    model = Seq2Seq(encoder, DECODERS[kind["decoder"]](vocabulary, embedded, WIDTH, WIDTH, **options))
    if score == "additive":  # attnlib's hidden layer is wider by default
        compared = model.decoder.attention.score
        compared.W_a, compared.U_a = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in "WU")
        compared.v_a = nn.Linear(WIDTH, 1, bias=False)
    model = model.double() if precise else model
    own = model.state_dict()
    assert set(own) == set(state)
    numbers = {name: torch.tensor(state[name]["data"], dtype=like.dtype) for name, like in own.items()}
    model.load_state_dict({name: numbers[name].view(like.shape) for name, like in own.items()})
    return model


def loss_of(model: Seq2Seq, batch: dict) -> torch.Tensor:
    source, inputs, targets = (torch.tensor(batch[name]) for name in ("source", "inputs", "targets"))
    logits = model(source, inputs, torch.tensor(batch["lengths"])).logits
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def losses_of(model: Seq2Seq, batches: list[dict]) -> list[float]:
    """Trained by torch."""
    adam, found = torch.optim.Adam(model.parameters(), lr=RATE), []
    for batch in batches:
        loss = loss_of(model, batch)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize(
    ("kind", "task", "precise", "mask"),
    [
        *((kind, task, True, True) for kind, task in zip(KINDS, itertools.cycle(TASKS))),
        (MODELS["additive"], "sort", False, True),
        (MODELS["general"], "dates", False, True),
        (MODELS["self-attention"], "reverse", False, True),
        (MODELS["additive"], "reverse", True, False),
        (MODELS["self-attention"], "copy", True, False),
    ],
    ids=str,
)
def test_it_learns_as_attnlib_learns(kind, task, precise, mask):
    argument = {"kind": kind, "task": task, "precise": precise, "mask": mask,
                "steps": STEPS, "rate": RATE, "width": WIDTH}  # fmt: skip
    found = run_in_node(LESSON, LEARN, argument)
    model = in_attnlib(kind, found["state"], precise)
    if not mask:
        model.encoder = Unmasked(model.encoder)
    loss_of(model, found["batches"][0]).backward()
    near = {"rtol": 1e-9, "atol": 1e-13} if precise else {"rtol": 1e-3, "atol": 1e-6}
    for name, weight in model.named_parameters():
        slopes = torch.tensor(found["slopes"][name.replace("encoder.encoder.", "encoder.")], dtype=weight.dtype)
        torch.testing.assert_close(slopes, weight.grad.flatten(), **near)
    assert found["losses"] == pytest.approx(losses_of(model, found["batches"]), rel=1e-9 if precise else 1e-4)
    assert len(found["never"]["tokens"]) == 2 and min(found["never"]["tokens"]) > EOS
    assert found["losses"][-1] < 0.95 * found["losses"][0]
    if not precise:
        return
    for name, weight in model.state_dict().items():
        name = name.replace("encoder.encoder.", "encoder.")
        torch.testing.assert_close(torch.tensor(found["grown"][name]).double(), weight.flatten(), rtol=1e-7, atol=1e-9)
    source, lengths = torch.tensor(found["batches"][0]["source"]), torch.tensor(found["batches"][0]["lengths"])
    with torch.no_grad():
        written = greedy_decode(model, source, lengths, max_length=7)
    for n, one in enumerate(found["written"]):
        assert one["tokens"] == written.tokens[n][written.tokens[n] > EOS].tolist()
        if kind["score"]:
            weights = torch.tensor(one["weights"]).double()
            torch.testing.assert_close(weights, written.weights[n, : len(weights)], rtol=1e-7, atol=1e-9)


def test_a_lesson_says_how_far_the_model_is():
    """Shares and errors against attnlib's metrics; held-out sentences are never learned from."""
    lesson = """(() => {
      const lesson = m.newLesson({ ...argument, sentence: [..."bead"] });
      for (let n = 0; n < 150; n++) lesson.learn();
      const examples = [[..."abcd"], [..."aab"]].map((source) => m.newTask("reverse").solve(source));
      const written = [{ tokens: [7, 6, 5, 4], weights: [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]] },
        { tokens: [5, 4, 4, 4], weights: [[0, 0, 1, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0]] }];
      return { look: lesson.look(), error: m.alignmentError(examples, written, [4, 3]) };
    })()"""
    settings = {"task": "reverse", "longest": 6, "width": 24, "rate": 0.02, "mask": True, "seed": 3}
    settings["kind"] = MODELS["general"]
    found = run_in_node(LESSON, lesson, settings)
    look = found["look"]
    assert (look["step"], look["source"], look["target"]) == (150, [*"bead"], [*"daeb"])
    assert look["gold"] == [[0, 3], [1, 2], [2, 1], [3, 0]]
    assert look["right"] > 0.2 and 0 <= look["error"] < 0.7
    assert len(look["weights"]) == len(look["written"]) and all(len(row) == 4 for row in look["weights"])
    ours = [{(0, 3), (1, 2), (2, 1), (3, 0)}, {(0, 2), (1, 0), (2, 0), (3, 1)}]
    gold = [{(0, 3), (1, 2), (2, 1), (3, 0)}, {(0, 2), (1, 1), (2, 0)}]
    assert found["error"] == pytest.approx(alignment_error_rate(ours, gold, gold))
    weights = torch.tensor([[0, 0, 1, 0], [1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0]])
    assert hard_alignment(weights, 4, 4) == ours[1]


@pytest.mark.parametrize(
    ("task", "typed", "target", "links"),
    [
        ("copy", "abca", "abca", [[0, 0], [1, 1], [2, 2], [3, 3]]),
        ("reverse", "abc", "cba", [[0, 2], [1, 1], [2, 0]]),
        ("sort", "cabac", "aabcc", [[0, 1], [1, 3], [2, 2], [3, 0], [4, 4]]),
        ("look up", "a3b7b", "7", [[0, 3]]),
        ("dates", "may 3 1999", "1999-05-03", None),
        ("dates", "3 may 1999", "1999-05-03", None),
        ("dates", "14 sep 2001", "2001-09-14", None),
        ("dates", "2001/9/14", "2001-09-14", None),
        ("copy", "", None, None),
        ("copy", "a7", None, None),
        ("copy", "abcdefghi", None, None),
        ("look up", "a3b7c", None, None),
        ("look up", "a3b", None, None),
        ("dates", "32 may 1999", None, None),
        ("dates", "<script>", None, None),
    ],
)
def test_a_typed_sentence_is_solved_or_refused(task, typed, target, links):
    found = run_in_node(LESSON, "m.newTask(argument[0]).solve([...argument[1]])", [task, typed])
    if target is None:
        assert found is None
    else:
        assert found == {"source": [*typed], "target": [*target], "gold": links}


REFUSED = {
    'made("rnn", "luong", "dot")': "unknown encoder rnn",
    'made("gru", "gru", null)': "unknown decoder gru",
    'made("gru", "luong", null)': "decoder luong and the score null do not fit",
    'made("gru", "luong", "max")': "unknown score max",
    'made("gru", "initial_state", "dot")': "initial_state and the score dot do not fit",
    'm.newTask("rhyme")': "unknown task rhyme",
    "m.newTape().affine({ rows: 1, columns: 2 }, { rows: 3, columns: 4 })": "4 columns cannot meet a matrix of 2",
}


def test_unknown_names_and_shapes_are_refused_in_words():
    calls = ", ".join(f"() => {call}" for call in REFUSED)
    run = """(() => {
      const made = (encoder, decoder, score) => m.newLearner({ encoder, decoder, score }, {});
      return [%s].map((call) => { try { call(); } catch (error) { return error.message; } });
    })()"""
    said = run_in_node(LESSON, run % calls, None)
    for words, part in zip(said, REFUSED.values(), strict=True):
        assert part in words
    assert [PAD, BOS, EOS, len(SPECIALS)] == run_in_node(LESSON, "[m.PAD, m.BOS, m.EOS, m.FIRST]", None)


def test_another_rate_is_taken_while_it_learns():
    """At a rate of 0 nothing is learned."""
    settings = {"task": "copy", "longest": 5, "width": 8, "rate": 0.02, "mask": True, "seed": 2, "kind": MODELS["dot"]}
    learning = """(() => {
      const lesson = m.newLesson({ ...argument, sentence: null });
      const weights = () => Object.values(lesson.parameters()).map(({ data }) => [...data]);
      const known = [weights()];
      for (const rate of [0.02, 0]) {
        lesson.set({ rate, mask: true, sentence: null });
        lesson.learn();
        known.push(weights());
      }
      return known;
    })()"""
    first, second, third = run_in_node(LESSON, learning, settings)
    assert first != second and second == third


def test_a_thread_answers_what_the_lesson_says():
    """Where no worker can be made, as here in node, the same runs in the page."""
    thread = module("lesson_thread.js", beside=attnlib.course.figures.__file__)
    settings = {"task": "copy", "longest": 5, "width": 8, "rate": 0.02, "mask": True, "seed": 2, "sentence": None,
                "kind": MODELS["dot"]}  # fmt: skip
    said = run_in_node(
        thread,
        """new Promise((done) => {
          const answers = [], orders = [
            { id: 1, begin: argument }, { id: 2, steps: 3, grown: true },
            { id: 3, changed: { rate: 0.5, mask: false, sentence: [..."abc"] } }, { id: 5, steps: 1 },
            { id: 4, begin: { ...argument, task: "rhyme" } },
          ];
          const thread = m.newThread((answer) => {
            answers.push(answer);
            if (answers.length === orders.length) done(answers);
          });
          orders.forEach(thread.send);
        })""",
        settings,
    )
    lesson = run_in_node(
        thread,
        """(() => {
          const lesson = m.newLesson(argument), losses = [1, 2, 3].map(() => lesson.learn()), look = lesson.look();
          lesson.set({ rate: 0.5, mask: false, sentence: [..."abc"] });
          return { losses, look, more: [lesson.learn(), lesson.look()] };
        })()""",
        settings,
    )
    assert [answer["id"] for answer in said] == [1, 2, 3, 5, 4]
    assert (said[0]["losses"], said[0]["look"]["step"], said[0]["parameters"]) == ([], 0, None)
    assert said[1]["losses"] == lesson["losses"] and said[1]["look"] == lesson["look"]
    assert set(said[1]["parameters"]) > {"decoder.W_o.weight", "encoder.rnn_backward.weight_hh_l0"}
    assert (said[2]["look"]["step"], said[2]["look"]["source"]) == (3, [*"abc"])
    assert [said[3]["losses"][0], said[3]["look"]] == lesson["more"]
    assert "unknown task rhyme" in said[4]["failed"]
