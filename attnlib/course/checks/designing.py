"""Checks of experiments: each runs the student's own in several laboratories, and knows what is true in each.

A sound experiment gives the right answer in all of them. A flawed one is told its flaw, read from what it has trained
and tested.
"""

from collections.abc import Callable

from attnlib.course.checks.asking import ask
from attnlib.course.checks.dress import undressed
from attnlib.course.checks.fairness import ENOUGH, looks_of, need_equal_steps, need_seeds, need_shares, runs_of
from attnlib.course.checks.verdict import check, need
from attnlib.course.claims import CANNOT, LATER, SAME, VERDICTS
from attnlib.course.laboratory import CHECKPOINTS, Arm, Lab
from attnlib.course.long_runs import BUDGETS


@check
def equal_text(answer: Callable) -> str:
    """Check `experiment(lab)`: with equal text, is the second arm of `lab.arms` better than the first → bool."""
    lucky = "it says that the long window is better where it is only in some seeds. Compare its worst with their best."
    for short, long, more, luck, truth, words in [
        # `more`: how much better the long window is, and how much less text it needs.
        (
            16, 64, (0.0, 1), (0.02, 0.02), False,
            "it says that the long window is better where only the amount of text counts: with equal text, both are "
            "alike, but for luck.",
        ),
        (
            16, 64, (0.2, 2), (0.02, 0.02), True,
            "it says that the long window is no better where it is, also with equal text.",
        ),
        (
            8, 40, (0.0, 1 / 3), (0.02, 0.02), False,
            "it says that the long window is better where it needs three times the text for the same share.",
        ),
        (
            20, 100, (0.0, 1), (0.02, 0.02), False,
            "it says that the long window is better where it is not: the rule is not only for windows of 16 and 64.",
        ),
        (11, 55, (0.0, 1), (0.01, 0.06), False, lucky),
        (33, 132, (0.0, 1), (0.06, 0.01), False, lucky),
    ]:  # fmt: skip
        gain, less = more
        lab = Lab(
            {
                f"{short} characters": Arm(0.7, needs=100, tokens=32 * short, luck=luck[0]),
                f"{long} characters": Arm(0.7 + gain, needs=100 * short / long / less, tokens=32 * long, luck=luck[1]),
            }
        )
        said = undressed(ask(answer, lab), True)
        need_seeds(lab, lab.arms)
        read = {arm: max(run.tokens for run in runs_of(lab, arm)) for arm in lab.arms}
        need(
            len(set(read.values())) == 1,
            "the arms have read unequal text: "
            + ", ".join(f"{arm!r} {n:,} characters" for arm, n in read.items())
            + ". Who reads more knows more.",
        )
        need(said == truth, words)
    return "equal text, and it finds what the window itself is worth."


@check
def long_enough(answer: Callable) -> str:
    """Check `experiment(lab)`: what more training does to the lead of the second arm over the first → a verdict."""
    quick, alike = Arm(ceiling=0.95, needs=60), "it finds a difference where the arms are alike but for luck."
    wide, narrow = Arm(ceiling=0.7, needs=60, luck=0.05), Arm(ceiling=0.7, needs=60, luck=0.005)
    for first, truth, words in [
        (
            Arm(ceiling=0.4, needs=150),
            CANNOT,
            "it does not say 'cannot' where the first arm has stopped to improve, far behind, in every seed.",
        ),
        (
            Arm(ceiling=0.95, needs=800, luck=0.03),
            LATER,
            "it does not say 'learns later' where the lead is gone at sixteen times the steps.",
        ),
        (
            Arm(ceiling=0.95, needs=6400),
            LATER,
            "it says 'cannot' of an arm that was still improving when the training ended. Look at `run.dev`: has its "
            "last third brought nothing lower?",
        ),
        (
            Arm(ceiling=0.95, needs=60),
            SAME,
            "it finds a difference where the arms are alike, and one seed beats another by luck only.",
        ),
        ({"one vector": narrow, "many vectors": wide}, SAME, alike),
        ({"one vector": wide, "many vectors": narrow}, SAME, alike),
    ]:
        lab = Lab(first if type(first) is dict else {"one vector": first, "a vector a letter": quick})
        said = undressed(ask(answer, lab), "")
        need(said in VERDICTS, f"it returns {said!r}; asked for is one of {', '.join(map(repr, VERDICTS))}.")
        need_seeds(lab, lab.arms)
        need_equal_steps(lab, lab.arms)
        steps = max(run.steps for run in lab.trained)
        need(
            truth == SAME or steps >= BUDGETS[-1] * lab.steps,
            f"its longest run has {steps:,} steps, and those of the chapter are {lab.steps:,}. An arm that has not "
            f"learned *yet* looks just like one that *cannot*. Train {BUDGETS[-1]} times as long.",
        )
        need(said == truth, words)
    return "it tells *cannot* from *not yet*, and both from luck."


@check
def own_rates(answer: Callable) -> str:
    """Check `experiment(lab)`: share of the test part with the rate that is best for each arm → {arm: [one a seed]}."""
    for first, second in [
        (Arm(needs=60, rate=1e-2), Arm(needs=60, rate=1e-3)),
        (Arm(needs=60, rate=3e-2, diverges=0.1), Arm(needs=60, rate=3e-3, diverges=1e-2)),
        (Arm(needs=60, rate=3e-3, noise=0.01), Arm(needs=40, rate=5.5e-3, noise=0.03)),
    ]:
        lab = Lab({"plain": first, "gated": second})
        said = ask(answer, lab)
        need_seeds(lab, lab.arms)
        need_equal_steps(lab, lab.arms)
        for arm in lab.arms:
            tried = {lr: {run.seed: min(run.dev) for run in runs_of(lab, arm) if run.lr == lr} for lr in lab.grid}
            missing = [lr for lr, dev in tried.items() if not dev]
            need(
                not missing,
                f"{arm!r} was not trained with the rate {' nor '.join(map(str, missing))}. What is best for one arm is "
                "not for another: each goes through the whole grid.",
            )
            need(
                min(map(len, tried.values())) >= ENOUGH,
                f"a rate of {arm!r} was tried with fewer than {ENOUGH} seeds. A rate is chosen by the mean over seeds.",
            )
            looked = {look.run.lr for look in looks_of(lab, arm)}
            need(
                len(looked) == 1,
                f"the test part was asked about {len(looked)} rates of {arm!r}. Choose on dev; test is for what was "
                "chosen.",
            )
            means = {lr: sum(dev.values()) / len(dev) for lr, dev in tried.items()}
            best = min(means, key=means.get)
            need(
                looked == {best},
                f"{arm!r} is reported with the rate {looked.pop()}. The mean loss on dev is lowest with {best}.",
            )
        need_shares(said, lab)
    return "each arm with its own rate, chosen on dev."


@check
def one_look(answer: Callable) -> str:
    """Check `experiment(lab)`: share of the test part at one checkpoint of each run → {arm: [one a seed]}."""
    for first, second in [
        (Arm(needs=30, forgets=0.1, noise=0.02), Arm(needs=60, noise=0.04)),
        (Arm(needs=200, noise=0.05), Arm(needs=10, forgets=0.15, noise=0.02)),
    ]:
        lab = Lab({"left to right": first, "right to left": second})
        said = ask(answer, lab)
        need_seeds(lab, lab.arms)
        need_equal_steps(lab, lab.arms)
        for arm in lab.arms:
            looks = looks_of(lab, arm)
            need(
                len(set(looks)) == len({look.run for look in looks}),
                f"the test part was asked about several checkpoints of one run of {arm!r}. The largest of "
                f"{CHECKPOINTS} numbers is large by luck, too: choose on dev, and look once.",
            )
            for look in looks:
                dev = look.run.dev
                need(
                    dev[look.at] == min(dev),
                    f"a run of {arm!r} is reported at its checkpoint {look.at}. The loss on dev is lowest at "
                    f"{dev.index(min(dev))}."
                    + (" The last is not the best: it has begun to forget." if look.at == CHECKPOINTS - 1 else ""),
                )
        need_shares(said, lab)
    return "chosen on dev, and the test part was asked once about each run."


@check
def more_than_luck(answer: Callable) -> str:
    """Check `experiment(lab)`: the arms that no other arm beats in every seed → list of their names."""
    names = ["look, step", "step, look", "look twice", "fed back"]
    for shares, luck in [
        ([0.8, 0.8, 0.8, 0.8], 0.05),
        ([0.5, 0.9, 0.6, 0.7], 0.005),
        ([0.8, 0.5, 0.82, 0.4], 0.03),
        ([0.3, 0.75, 0.78, 0.8], 0.04),
        ([0.4, 0.5, 0.45, 0.9], 0.01),
        ([0.9, 0.4, 0.5, 0.45], 0.01),
    ]:
        lab = Lab({name: Arm(ceiling=c, needs=20, luck=luck) for name, c in zip(names, shares, strict=True)})
        said = undressed(ask(answer, lab), [])
        need_seeds(lab, lab.arms)
        need_equal_steps(lab, lab.arms)
        found = {arm: [look.share for look in looks_of(lab, arm)] for arm in lab.arms}
        unbeaten = [arm for arm in lab.arms if not any(min(other) > max(found[arm]) for other in found.values())]
        band = {arm: f"{arm!r} {min(of):.2f} to {max(of):.2f}" for arm, of in found.items()}
        need(all(type(name) is str for name in said), f"it returns {said!r:.60}; asked for are names of arms.")
        for arm in unbeaten:
            need(arm in said, f"it leaves out {band[arm]}, which none beats in every seed: {', '.join(band.values())}.")
        for arm in said:
            need(
                arm in unbeaten,
                f"it names {band.get(arm, arm)}, whose best seed is below the worst of another: "
                f"{', '.join(band.values())}.",
            )
        need(len(said) == len(set(said)), "it names an arm twice.")
    return "it calls the best what luck cannot explain, and no more."


@check
def could_fail(answer: Callable) -> str:
    """Check `experiment(lab)`: is the pointer worth having, on names never seen → bool."""
    none = Arm(ceiling=0.0)
    for replaced, pointer, truth, words in [
        (
            Arm(ceiling=0.3),
            Arm(ceiling=0.9),
            True,
            "it says no where the pointer gets .9 of the names right, and replacing gets .3.",
        ),
        (
            Arm(ceiling=0.7, luck=0.03),
            Arm(ceiling=0.7, luck=0.03),
            False,
            "it says yes where replacing the unknowns, the older and cheaper way, does as well as the pointer. Is "
            "there a laboratory in which your experiment says no?",
        ),
        (
            Arm(ceiling=0.8),
            Arm(ceiling=0.2),
            False,
            "it says yes where the pointer is the worse of two ways to copy.",
        ),
        (
            Arm(ceiling=0.7, luck=0.01),
            Arm(ceiling=0.7, luck=0.06),
            False,
            "it says yes where the pointer is better in its best seeds only, and worse in others.",
        ),
    ]:
        lab = Lab({"no copying": none, "replaced unknowns": replaced, "pointer": pointer})
        said = undressed(ask(answer, lab), True)
        arms = lab.arms[1:]
        tested = {look.run.arm for look in lab.tested}
        if {"pointer", "no copying"} <= tested:
            need(
                "replaced unknowns" in tested,
                "the pointer is compared with a model that has no unknown name in its vocabulary. It gets 0 by "
                "construction: that comparison cannot fail, so it says nothing.",
            )
        need_seeds(lab, arms)
        need_equal_steps(lab, arms)
        need(said == truth, words)
    return "there are laboratories in which it says no, and it says so in those only."


HEADS, PARAMETERS, NEITHER = "heads", "parameters", "neither"


@check
def what_differs(answer: Callable) -> str:
    """Check `experiment(lab, few, many)`: why is `many` better, an arm (heads, width of each) as `few` is → word."""
    for few, many, gain_of_heads, gain_of_parameters, truth in [
        ((1, 16), (2, 16), 0.0, 0.2, PARAMETERS),
        ((1, 16), (2, 16), 0.2, 0.0, HEADS),
        ((1, 8), (4, 8), 0.0, 0.0, NEITHER),
        ((1, 8), (4, 8), 0.3, 0.02, HEADS),
        ((2, 8), (4, 16), 0.0, 0.2, PARAMETERS),
    ]:
        sizes = [(heads, width) for heads in (1, 2, 4) for width in (8, 16, 32, 64)]
        lab = Lab(
            {
                (heads, width): Arm(
                    ceiling=0.5
                    + gain_of_heads * (heads > few[0])
                    + gain_of_parameters * (heads * width > few[0] * few[1]),
                    needs=20,
                    parameters=256 * heads * width,
                    luck=0.03,
                )
                for heads, width in sizes
            }
        )
        said = undressed(ask(answer, lab, few, many), "")
        words = (HEADS, PARAMETERS, NEITHER)
        need(said in words, f"it returns {said!r}; asked for is one of {', '.join(map(repr, words))}.")
        need_seeds(lab, [few, many])
        need_equal_steps(lab, [few, many])
        control = (few[0], many[0] * many[1] // few[0])
        if truth != NEITHER:
            need(
                any(run.arm == control for run in lab.trained),
                f"{many} differs from {few} in two things: it has {many[0] // few[0]} times the heads, and "
                f"{lab.parameters[many] // lab.parameters[few]} times the parameters. No arm was trained that differs "
                "in one of them only.",
            )
            need_seeds(lab, [control])
            need_equal_steps(lab, [many, control])
        need(
            said == truth,
            {
                PARAMETERS: "it does not say 'parameters' where one head with as many parameters is as good.",
                HEADS: "it does not say 'heads' where many heads are better than one with as many parameters.",
                NEITHER: "it finds a reason where there is no difference, in every seed, to be explained.",
            }[truth],
        )
    return "it changes one thing at a time, and names the one that counts."
