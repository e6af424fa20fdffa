"""What every number should be: float64 loops over one pair at a time, written from the equations.

Slow and plain on purpose, and importing nothing of what they judge. `p` holds the parameters of a model
under the names of its state_dict.
"""

import math

import numpy as np


def arrays(module) -> dict[str, np.ndarray]:
    """The parameters `p` of a module."""
    return {name: tensor.numpy() for name, tensor in module.state_dict().items()}


def dot(x, y) -> float:
    """Σ_n x_n y_n."""
    assert len(x) == len(y)
    return sum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def times(W, x) -> np.ndarray:
    """W x, one row at a time."""
    return np.array([dot(row, x) for row in W])


def cosine(x, y) -> float:
    """x · y / (|x| |y|), and 0 where there is no direction."""
    lengths = math.sqrt(dot(x, x)) * math.sqrt(dot(y, y))
    return dot(x, y) / lengths if lengths else 0.0


#: name → score of query q and key k, the key at position j
PAIR = {
    "dot": lambda q, k, j, p: dot(q, k),
    "scaled_dot": lambda q, k, j, p: dot(q, k) / math.sqrt(len(k)),
    "general": lambda q, k, j, p: dot(q, times(p["W.weight"], k)),
    "projected_dot": lambda q, k, j, p: dot(times(p["W_q.weight"], q), times(p["W_k.weight"], k)),
    "additive": lambda q, k, j, p: dot(
        p["v_a.weight"][0], [math.tanh(a) for a in times(p["W_a.weight"], q) + times(p["U_a.weight"], k)]
    ),
    "concat": lambda q, k, j, p: dot(
        p["w_2.weight"][0], [math.tanh(a) for a in times(p["W_1.weight"], [*map(float, q), *map(float, k)])]
    ),
    "cosine": lambda q, k, j, p: cosine(q, k),  # sharpness 1
    "location": lambda q, k, j, p: times(p["W_a.weight"], q)[j],
    "zero": lambda q, k, j, p: 0.0,
}


def scores(name, query, key, p) -> np.ndarray:
    """(B, T, d_query), (B, S, d_key) → (B, T, S)."""
    found = np.zeros((len(query), query.shape[1], key.shape[1]))
    for b in range(len(query)):
        for i in range(query.shape[1]):
            for j in range(key.shape[1]):
                found[b, i, j] = PAIR[name](query[b, i], key[b, j], j, p)
    return found


def softmax(row, visible) -> np.ndarray:
    """exp(e_j) / Σ_visible exp(e_j'), and 0 where nothing is visible. Shifted by the maximum, which cancels."""
    weights = np.zeros(len(row))
    seen = [j for j in range(len(row)) if visible[j]]
    if seen:
        top = max(float(row[j]) for j in seen)
        total = sum(math.exp(float(row[j]) - top) for j in seen)
        for j in seen:
            weights[j] = math.exp(float(row[j]) - top) / total
    return weights


def masked_softmax(scores, mask) -> np.ndarray:
    """Row by row over the last dimension; the mask has the shape of the scores."""
    rows, masks = np.reshape(scores, (-1, scores.shape[-1])), np.reshape(mask, (-1, scores.shape[-1]))
    return np.array([softmax(row, m) for row, m in zip(rows, masks, strict=True)]).reshape(scores.shape)


def context(weights, value) -> np.ndarray:
    """c_i = Σ_j α_ij v_j, (B, T, S) and (B, S, d_value) → (B, T, d_value)."""
    found = np.zeros((*weights.shape[:2], value.shape[-1]))
    for b in range(len(weights)):
        for i in range(weights.shape[1]):
            for j in range(weights.shape[2]):
                found[b, i] += weights[b, i, j] * value[b, j]
    return found


def copied(weights, source, size) -> np.ndarray:
    """P(w) = Σ_{j: x_j = w} α_ij, word by word: (B, T, S), (B, S) → (B, T, size)."""
    found = np.zeros((*weights.shape[:2], size))
    for b, i, word in np.ndindex(*found.shape):
        found[b, i, word] = sum(float(weights[b, i, j]) for j in range(weights.shape[2]) if source[b, j] == word)
    return found


def mixed(logits, gate, copied) -> np.ndarray:
    """p P_vocab(w) + (1 - p) P_copy(w) with p = σ(gate), word by word; a probability, not its logarithm."""
    found = np.zeros(copied.shape)
    for b, i, word in np.ndindex(*found.shape):
        p = 1 / (1 + math.exp(-float(gate[b, i, 0])))
        total = sum(math.exp(float(logit)) for logit in logits[b, i])
        say = math.exp(float(logits[b, i, word])) / total if word < logits.shape[2] else 0.0
        found[b, i, word] = p * say + (1 - p) * float(copied[b, i, word])
    return found


def coverage(weights, mask) -> float:
    """Mean over the real steps i of Σ_j min(α_ij, Σ_{k<i} α_kj): (B, T, S), (B, T)."""
    losses = []
    for b, i in np.ndindex(*mask.shape):
        if mask[b, i]:
            looked = [sum(float(weights[b, k, j]) for k in range(i)) for j in range(weights.shape[2])]
            losses.append(sum(min(float(weights[b, i, j]), looked[j]) for j in range(weights.shape[2])))
    return sum(losses) / len(losses)


def penalty(weights, mask) -> float:
    """Σ_j (1 - Σ_i α_ij)² over the real steps i, mean over the batch: (B, T, M), (B, T)."""
    total = 0.0
    for row, real in zip(weights, mask, strict=True):
        for j in range(weights.shape[2]):
            total += (1 - sum(float(row[i, j]) for i in range(len(row)) if real[i])) ** 2
    return total / len(weights)


def length_mask(lengths, S) -> list:
    """Which of S positions come before the end, for lengths (B,) or (B, T), as nested lists (B, 1 or T, S)."""
    rows = [length if isinstance(length, list) else [length] for length in lengths]
    return [[[j + 1 <= n for j in range(S)] for n in row] for row in rows]


def causal_mask(T, past=0, include_self=True) -> list:
    """Position i of a text sees the positions 0, 1, ... i, or … i - 1; the rows of the first `past` are left out."""
    seen = [range(i + 1) if include_self else range(i) for i in range(past + T)]
    return [[j in seen[i] for j in range(past + T)] for i in range(past, past + T)]


def sigmoid(x) -> np.ndarray:
    return np.array([1 / (1 + math.exp(-a)) for a in x])


def rnn(x, h, W, U, b, c) -> np.ndarray:
    """h_j = tanh(W x + b + U h_{j-1} + c), with parameters in torch's order, as in the two below."""
    return np.array([math.tanh(a) for a in times(W, x) + b + times(U, h) + c])


def gru(x, h, W, U, b, c) -> np.ndarray:
    """r = σ(…), z = σ(…), n = tanh(W_n x + b_n + r * (U_n h + c_n)), h_j = (1 - z) * n + z * h_{j-1}."""
    (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(times(W, x) + b, 3), np.split(times(U, h) + c, 3)
    n = np.array([math.tanh(a) for a in n_x + sigmoid(r_x + r_h) * n_h])
    z = sigmoid(z_x + z_h)
    return (1 - z) * n + z * h


def lstm(x, state, W, U, b, c) -> tuple[np.ndarray, np.ndarray]:
    """i, f, o = σ(…), g = tanh(…), memory_j = f * memory_{j-1} + i * g, h_j = o * tanh(memory_j)."""
    h, memory = state
    i, f, g, o = np.split(times(W, x) + b + times(U, h) + c, 4)
    memory = sigmoid(f) * memory + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(memory), memory


def rnn_lm(tokens, state, p):
    """h_t = tanh(W_h h_{t-1} + W_e x_t + b_1) and W_2 h_t + b_2: (T,), (d_hidden,) → logits, states."""
    logits, states = [], []
    for token in tokens:
        x = p["embedding.weight"][token]
        inner = times(p["W_h.weight"], state) + times(p["W_e.weight"], x) + p["W_e.bias"]
        state = np.array([math.tanh(a) for a in inner])
        states.append(state)
        logits.append(times(p["W_2.weight"], state) + p["W_2.bias"])
    return np.array(logits), np.array(states)


def attention_lm(tokens, name, score, p, window=None):
    """c_t = Σ_{j<t} α_tj h_j and W_2 [h_t; c_t] + b_2, with at most `window` states in sight.

    `score` are the parameters of the score of this name, `p` those of the model → logits, states, weights.
    """
    _, states = rnn_lm(tokens, np.zeros(len(p["W_h.weight"])), p)
    W_2 = np.concatenate([p["W_2.weight"], p["W_c.weight"]], axis=1)
    logits, weights = [], []
    for t, h in enumerate(states):
        e = [PAIR[name](h, k, j, score) for j, k in enumerate(states)]
        alpha = softmax(e, [j < t and (window is None or t - j <= window) for j in range(len(states))])
        c = sum((a * k for a, k in zip(alpha, states, strict=True)), np.zeros(len(h)))
        logits.append(times(W_2, [*h, *c]) + p["W_2.bias"])
        weights.append(alpha)
    return np.array(logits), states, np.array(weights)


def surprise(logits, target) -> float:
    """-log softmax(logits)[target], in nats."""
    top = max(map(float, logits))
    return math.log(sum(math.exp(float(a) - top) for a in logits)) + top - float(logits[target])


def cross_entropy(logits, targets, mask) -> tuple[float, int]:
    """Mean surprise over the real tokens, and their number: (N, V), (N,), (N,)."""
    nats = [surprise(row, t) for row, t, real in zip(logits, targets, mask, strict=True) if real]
    return sum(nats) / len(nats), len(nats)
