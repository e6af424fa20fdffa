"""What a laboratory's record must show of an experiment: each arm, enough seeds, equal steps, and nothing left out."""

from collections.abc import Hashable

from attnlib.course.checks.dress import undressed
from attnlib.course.checks.verdict import need
from attnlib.course.laboratory import Lab, Look, Trained

ENOUGH = 3  # seeds


def runs_of(lab: Lab, arm: Hashable) -> list[Trained]:
    """What was trained of an arm; at least something."""
    runs = [run for run in lab.trained if run.arm == arm]
    need(len(runs) > 0, f"{arm!r} was never trained. Without it there is nothing to compare with.")
    return runs


def looks_of(lab: Lab, arm: Hashable) -> list[Look]:
    """What the test part was asked of an arm; at least three seeds."""
    looks = [look for look in lab.tested if look.run.arm == arm]
    need(len(looks) > 0, f"the test part was never asked about {arm!r}. What dev says was used to choose.")
    seeds = len({look.run.seed for look in looks})
    need(
        seeds >= ENOUGH,
        f"of {arm!r}, {seeds} seed{'s were' if seeds > 1 else ' was'} tested. All that were trained are shown: those "
        "left out may be the ones that matter.",
    )
    return looks


def need_seeds(lab: Lab, arms: list) -> None:
    """Each arm must have been trained with three seeds or more, and the same seed again is none."""
    for arm in arms:
        runs = runs_of(lab, arm)
        seeds = len({run.seed for run in runs})
        need(
            seeds >= ENOUGH or len(set(runs)) == len(runs),
            f"{arm!r} was trained {len(runs)} times with {seeds} seed{'s' * (seeds > 1)}. The same seed gives the same "
            "run again, and tells nothing of luck.",
        )
        need(
            seeds >= ENOUGH,
            f"{arm!r} was trained with {seeds} seed{'s' * (seeds > 1)}. Another gives another number: use at least "
            f"{ENOUGH}, and look at all of them.",
        )


def need_equal_steps(lab: Lab, arms: list) -> None:
    """The longest runs of the arms must be equally long."""
    steps = {arm: max(run.steps for run in runs_of(lab, arm)) for arm in arms}
    need(
        len(set(steps.values())) == 1,
        f"the arms have not had the same training: {', '.join(f'{arm!r} {n:,} steps' for arm, n in steps.items())}.",
    )


def need_shares(said: object, lab: Lab) -> None:
    """It must be a dict of lists, one for each arm, with what the test part said."""
    need(
        type(said) is dict and list(said) == lab.arms and all(type(of) is list for of in said.values()),
        f"it returns {said!r:.60}; asked for is a dict with a list for each of {lab.arms}, in this order.",
    )
    for arm, shares in said.items():
        looks = looks_of(lab, arm)
        need(
            len(shares) == len(looks),
            f"it reports {len(shares)} numbers of {arm!r}, and the test part was asked {len(looks)} times: show each "
            "seed.",
        )
        plain = sorted(undressed(share, 0.0, f"what it reports of {arm!r}") for share in shares)
        need(
            all(abs(x - look) < 1e-6 for x, look in zip(plain, sorted(look.share for look in looks), strict=True)),
            f"what it reports of {arm!r} is not what the test part said.",
        )
