"""What a page's language model reads, in JavaScript and in loops over numpy that know nothing of attnlib."""

import numpy as np

from attnlib.course.figures.weights import unpacked

#: In JavaScript: for every run of ids, its states, and of the place asked for weights and logits.
IN_JAVASCRIPT = """(({ weights, runs }) => {
    const model = m.languageModel(m.tensors(weights)), looks = "W_c.weight" in weights;
    return runs.map((ids) => {
        const states = model.read(ids);
        return ids.map((_, t) => {
            const { weights: alpha, context } = model.look(states, t);
            const logits = model.say(states[t], looks ? context : null);
            return { state: [...states[t]], weights: [...alpha], logits: [...logits] };
        });
    });
})"""


def by_hand(weights: dict, ids: list[int]) -> list[dict]:
    """`h_t = tanh(W_h h_{t-1} + W_e x_t + b_1)`, where h_t looks, `W_2 h_t + b_2`, plus `W_c c_t` if there is one."""
    of = {name: weight.numpy() for name, weight in unpacked(weights).items()}
    h, states, found = np.zeros(len(of["W_h.weight"])), [], []
    for token in ids:
        x = of["embedding.weight"][token]
        h = np.tanh(of["W_h.weight"] @ h + of["W_e.weight"] @ x + of["W_e.bias"])
        logits = of["W_2.weight"] @ h + of["W_2.bias"]
        scores = np.array([h @ past for past in states]) / np.sqrt(len(h))
        alpha = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum() if states else scores
        if "W_c.weight" in of:
            logits = logits + of["W_c.weight"] @ sum((a * k for a, k in zip(alpha, states, strict=True)), 0 * h)
        states.append(h)
        found.append({"state": h, "weights": alpha, "logits": logits})
    return found
