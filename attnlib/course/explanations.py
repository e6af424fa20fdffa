"""What chapter 14 tests explanations with: two sets of texts, and measures of how much each word matters."""

import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnlib.data.batching import pad
from attnlib.data.cards import Splits
from attnlib.data.examples import check_range, check_sizes, draw_splits, part_of
from attnlib.data.tasks import NEUTRAL, Labelled
from attnlib.data.translation import is_sentence, tokenize
from attnlib.data.vocabulary import SPECIALS, UNK, Vocabulary
from attnlib.data.wheels import fetch_wheel

# what is asked about → words that praise it, words that blame it
OPINIONS = {
    "food?": (("tasty", "fresh"), ("bland", "stale")),
    "staff?": (("friendly", "helpful"), ("rude", "lazy")),
    "room?": (("bright", "cosy"), ("shabby", "dusty")),
    "price?": (("cheap", "fair"), ("steep", "inflated")),
    "view?": (("splendid", "open"), ("blocked", "dreary")),
    "bed?": (("soft", "wide"), ("lumpy", "narrow")),
}
ERRORS = {"error", "abort", "exceptions"}
_STRINGS = re.compile(r"homeassistant/components/(\w+)/translations/en\.json")


def load_questions(
    sizes: Sequence[int] = (4_000, 500, 500), lengths: tuple[int, int] = (8, 14), seed: int = 0
) -> Splits[Labelled]:
    """Texts such as `room? the tasty rude a cosy …`: is what the first word asks about praised?

    Each text has one opinion, a word of its own, on each of six matters; three are praised and three blamed. So who
    does not use the question is right in half of the cases, whatever else they know. The rest are neutral words.

    Args:
        sizes: texts in train, dev and test.
        lengths: smallest and largest number of words behind the question.
        seed: one seed, one corpus.

    Returns:
        Texts of 1 + length words; label 1 is praise, gold the place of the opinion that was asked for.

    Raises:
        ValueError: sizes or lengths make no sense, or there are not so many different texts.

    Example:
        >>> train = load_questions(sizes=(100, 0, 0)).train
        >>> asked, word = (train.vocabulary.tokens[train.tokens[0, place]] for place in (0, train.gold[0]))
        >>> word in OPINIONS[asked][0 if train.labels[0] else 1]
        True
    """
    check_range("lengths", lengths, least=len(OPINIONS))
    matters = list(OPINIONS)

    def draw(rng: random.Random, part: str) -> tuple[tuple[str, ...], int, bool] | None:
        praised = rng.sample(matters, len(matters) // 2)
        said = {matter: rng.choice(OPINIONS[matter][matter not in praised]) for matter in matters}
        words = [*said.values(), *rng.choices(NEUTRAL, k=rng.randint(*lengths) - len(said))]
        rng.shuffle(words)
        asked = rng.choice(matters)
        text = (asked, *words)
        return (text, text.index(said[asked]), asked in praised) if part_of(" ".join(text)) == part else None

    opinions = [word for sides in OPINIONS.values() for side in sides for word in side]
    vocabulary = Vocabulary([*SPECIALS, *OPINIONS, *opinions, *NEUTRAL], unknown=SPECIALS[UNK])

    def labelled(part: list[tuple[tuple[str, ...], int, bool]]) -> Labelled:
        gold = torch.tensor([place for _, place, _ in part], dtype=torch.long)
        labels = torch.tensor([praise for *_, praise in part], dtype=torch.long)
        return _labelled([text for text, *_ in part], labels, gold, vocabulary)

    return Splits(*map(labelled, draw_splits(draw, sizes, seed)))


def load_messages(sizes: Sequence[int] = (4_000, 400, 400), seed: int = 0) -> Splits[Labelled]:
    """English sentences of the interface of Home Assistant: is it an error message?

    Half of each part are. Integrations in one part are in no other, nor are their sentences. Words that are not among
    the 2,000 most frequent of train are `<unk>`. No place decides: gold is 0 everywhere.

    Args:
        sizes: sentences in train, dev and test, of up to 20 words.
        seed: which of them are drawn.

    Raises:
        DataError: the wheel cannot be had.
        ValueError: sizes make no sense, or there are not so many sentences.

    Example:
        >>> load_messages(sizes=(6, 0, 2)).train.labels
        tensor([0, 0, 0, 1, 1, 1])
    """
    check_sizes(sizes)
    found: dict[str, dict[tuple[str, ...], bool]] = {part: {} for part in Splits._fields}
    with zipfile.ZipFile(fetch_wheel("homeassistant")) as wheel:
        for name in sorted(filter(_STRINGS.fullmatch, wheel.namelist())):
            of_part = found[part_of(_STRINGS.fullmatch(name)[1])]
            for path, string in _leaves(json.loads(wheel.read(name))):
                words = tuple(tokenize(string, "en"))
                if is_sentence(words) and len(words) <= 20:
                    of_part.setdefault(words, not ERRORS.isdisjoint(path[:2]))
    drawn, seen = {}, set()
    for part, size in zip(Splits._fields, sizes, strict=True):
        for label in (False, True):
            group = [words for words, error in found[part].items() if error == label and words not in seen]
            drawn[part, label] = random.Random(seed).sample(group, size // 2)
        seen |= found[part].keys()
    words = (word for label in (False, True) for text in drawn["train", label] for word in text)
    vocabulary = Vocabulary.count(words, 2000, unknown=SPECIALS[UNK], specials=SPECIALS)

    def labelled(part: str) -> Labelled:
        texts = drawn[part, False] + drawn[part, True]
        labels = (torch.arange(len(texts)) >= len(texts) // 2).long()
        return _labelled(texts, labels, torch.zeros_like(labels), vocabulary)

    return Splits(*map(labelled, Splits._fields))


def _leaves(tree: dict, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, value in tree.items():
        yield from _leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]


def _labelled(texts: Sequence[Sequence[str]], labels: Tensor, gold: Tensor, vocabulary: Vocabulary) -> Labelled:
    if not texts:
        return Labelled(torch.zeros(0, 0, dtype=torch.long), labels, labels, gold, vocabulary)
    tokens, lengths = pad([vocabulary.encode(text, require_known=False) for text in texts])
    return Labelled(tokens, lengths, labels, gold, vocabulary)


def kendall_tau(a: Float[Tensor, "N S"], b: Float[Tensor, "N S"], mask: Bool[Tensor, "N S"]) -> Float[Tensor, " N"]:
    """Kendall's τ of two measures of the same words, for each text: do both put the words in the same order?

    Of all pairs of words, those in the same order by both minus those in opposite orders; over the geometric mean of
    the numbers of pairs that each tells apart (τ_b, where some are equal). 0 where one tells nothing apart.

    Args:
        a, b: importance of each word.
        mask: True = a word of the text.

    Example:
        >>> a, mask = torch.tensor([[1.0, 2.0, 3.0]]), torch.ones(1, 3, dtype=torch.bool)
        >>> kendall_tau(a, a ** 2, mask), kendall_tau(a, -a, mask)
        (tensor([1.]), tensor([-1.]))
    """
    pairs = mask.unsqueeze(1) & mask.unsqueeze(2)
    order_a, order_b = ((x.unsqueeze(1) - x.unsqueeze(2)).sign() * pairs for x in (a, b))
    told_apart = (order_a.square().sum((1, 2)) * order_b.square().sum((1, 2))).sqrt()
    return (order_a * order_b).sum((1, 2)) / told_apart.clamp(min=1)


def gradients(model: nn.Module, texts: Labelled) -> Float[Tensor, "N S"]:
    """How fast p changes with each word: the size of ∂p/∂x_j · x_j, x_j its embedding, the weights held fixed.

    Args:
        model: with an `encoder.embedding`; model(texts, weights) → (log-odds, weights, …), computing the weights
            itself where it is given None.
        texts: N of them, of S places.

    Example:
        >>> class Sum(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.encoder = nn.Module()
        ...         self.encoder.embedding = nn.Embedding.from_pretrained(torch.tensor([[0.0], [2.0]]), freeze=False)
        ...     def forward(self, texts, weights=None):
        ...         return self.encoder.embedding(texts.tokens).sum((1, 2)), weights
        >>> texts = Labelled(torch.tensor([[0, 1]]), torch.tensor([2]), None, None, None)
        >>> gradients(Sum(), texts)  # p (1 - p) · 2, at p = σ(2)
        tensor([[0.0000, 0.2100]])
    """
    with torch.no_grad():
        weights = model(texts)[1]
    kept: list[Tensor] = []
    hook = model.encoder.embedding.register_forward_hook(lambda module, given, result: kept.append(result))
    try:
        p = model(texts, weights)[0].sigmoid()
    finally:
        hook.remove()
    (slope,) = torch.autograd.grad(p.sum(), kept[0])
    return (slope * kept[0]).sum(-1).abs().detach()


@torch.no_grad()
def leave_one_out(model: Callable, texts: Labelled) -> Float[Tensor, "N S"]:
    """How far p moves when word j is deleted and the model reads again, for each j; 0 at padding.

    Args:
        model: model(texts) → (log-odds, …).
        texts: N of them, of S places.

    Example:
        >>> texts = Labelled(torch.tensor([[5, 7, 0]]), torch.tensor([2]), None, None, None)
        >>> leave_one_out(lambda texts: (texts.tokens.sum(1) - 12.0,), texts)  # p = σ(0), σ(-5) and σ(-7)
        tensor([[0.4933, 0.4991, 0.0000]])
    """
    p, places = model(texts)[0].sigmoid(), torch.arange(texts.tokens.shape[1], device=texts.tokens.device)
    moved = []
    for j in places:
        real = j < texts.lengths
        shorter = texts._replace(tokens=texts.tokens[:, places != j], lengths=texts.lengths - real.long())
        moved.append((model(shorter)[0].sigmoid() - p).abs())
    return torch.stack(moved, dim=1)


def divergence(a: Float[Tensor, "*N S"], b: Float[Tensor, "*N S"]) -> Float[Tensor, "*N"]:
    """Jensen–Shannon divergence of two distributions over the same words, in nats: from 0 to log 2.

    Example:
        >>> a = torch.tensor([1.0, 0.0, 0.0])
        >>> divergence(a, a.flip(0))
        tensor(0.6931)
    """
    a, b = a.clamp(min=1e-12), b.clamp(min=1e-12)  # 0 log 0 = 0, with a gradient
    m = (a + b) / 2
    return ((a * (a / m).log()).sum(-1) + (b * (b / m).log()).sum(-1)) / 2


def farthest_weights(
    alpha: Float[Tensor, " S"], votes: Float[Tensor, " S"], low: float | Tensor, high: float | Tensor
) -> Float[Tensor, " S"]:
    """Of all weights α' with low ≤ Σ α'_j z_j ≤ high, those that diverge most from α.

    The divergence is convex, so it is largest at a corner of what is allowed; and a corner of a simplex that is cut
    by one bound stands on at most two words. All pairs are tried.

    Args:
        alpha: weights of the model.
        votes: z_j, what the model would say if it looked at j alone.
        low, high: the bounds; α itself should keep them, and is returned where nothing else does.

    Example:
        >>> farthest_weights(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([4.0, 0.0, 8.0]), 4.0, 4.0)
        tensor([0.0000, 0.5000, 0.5000])
    """
    S = len(alpha)
    one, other = torch.triu_indices(S, S, 1)  # all pairs of places
    pair, gap = torch.arange(len(one)), votes[one] - votes[other]
    corners = [torch.eye(S)[(votes >= low) & (votes <= high)], alpha[None]]
    for bound in (low, high):
        share = (bound - votes[other]) / gap  # of the first of the two
        both = torch.zeros(len(one), S)
        both[pair, one], both[pair, other] = share, 1 - share
        corners.append(both[(share >= 0) & (share <= 1)])
    tried = torch.cat(corners)
    return tried[divergence(alpha.expand_as(tried), tried).argmax()]
