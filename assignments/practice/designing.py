"""The experiments of chapters 1, 2, 6, 7, 8, 10, 12 and 13."""

import statistics

import torch

from assignments.practice import Variants

# --- chapter 1: equal text --------------------------------------------------------------------------


def of(lab, arm, steps=None, seeds=None, lr=None):
    """What the test part says of an arm, one number for each seed."""
    seeds = lab.seeds if seeds is None else seeds
    return [lab.test(lab.train(arm, seed, lr or lab.rates[arm], steps or lab.steps)) for seed in seeds]


def better(winner, loser):
    return min(winner) > max(loser)


def as_much_as_the_short(lab):
    short, long = lab.arms
    text = lab.steps * lab.tokens[short]
    return better(of(lab, long, text // lab.tokens[long]), of(lab, short, text // lab.tokens[short]))


def as_much_as_the_long(lab):
    shares = {}
    text = lab.steps * max(lab.tokens.values())
    for arm in lab.arms:
        runs = [lab.train(arm, seed=s, lr=lab.rates[arm], steps=text // lab.tokens[arm]) for s in range(5)]
        shares[arm] = [lab.test(run) for run in runs]
    short, long = shares.values()
    return better(long, short)


def equal_steps(lab):
    short, long = lab.arms
    return better(of(lab, long), of(lab, short))


def more_for_the_short(lab):
    short, long = lab.arms
    return better(of(lab, long), of(lab, short, 2 * lab.steps))


def one_seed_each(lab):
    short, long = lab.arms
    text = lab.steps * lab.tokens[short]
    return of(lab, long, text // lab.tokens[long], [0])[0] > of(lab, short, lab.steps, [0])[0]


def long_alone(lab):
    return min(of(lab, lab.arms[1])) > 0.5


def better_at_its_worst(lab):
    as_much_as_the_short(lab)
    return True


def never_better(lab):
    as_much_as_the_short(lab)
    return False


def share_not_bool(lab):
    return of(lab, lab.arms[0])[0]


# --- chapter 2: long enough -------------------------------------------------------------------------


def still(run):
    """Whether the last third of a run brought nothing lower."""
    return min(run.dev[8:]) > min(run.dev[:8]) - 0.01


def by_budgets(lab):
    first, second = lab.arms
    for budget in (1, 4, 16):
        runs = {arm: [lab.train(arm, s, lab.rates[arm], budget * lab.steps) for s in lab.seeds] for arm in lab.arms}
        shares = {arm: [lab.test(run) for run in of_arm] for arm, of_arm in runs.items()}
        if not better(shares[second], shares[first]):
            return "no difference found" if budget == 1 else "learns later"
    settled = all(still(run) for of_arm in runs.values() for run in of_arm)
    return "cannot" if settled else "learns later"


def first_and_last(lab):
    first, second = lab.arms
    lead, runs = [], []
    for steps in (lab.steps, 20 * lab.steps):
        runs = [lab.train(first, s, lab.rates[first], steps) for s in range(5)]
        lead.append(better(of(lab, second, steps, range(5)), [lab.test(run) for run in runs]))
    if not lead[0]:
        return "no difference found"
    return "cannot" if lead[1] and all(still(run) for run in runs) else "learns later"


def short_only(lab):
    first, second = lab.arms
    return "cannot" if better(of(lab, second), of(lab, first)) else "no difference found"


def four_times(lab):
    first, second = lab.arms
    return "cannot" if better(of(lab, second, 4 * lab.steps), of(lab, first, 4 * lab.steps)) else "learns later"


def no_plateau(lab):
    first, second = lab.arms
    if not better(of(lab, second), of(lab, first)):
        return "no difference found"
    return "cannot" if better(of(lab, second, 16 * lab.steps), of(lab, first, 16 * lab.steps)) else "learns later"


def only_the_loser_goes_on(lab):
    first, second = lab.arms
    return "cannot" if better(of(lab, second), of(lab, first, 16 * lab.steps)) else "learns later"


def always_later(lab):
    by_budgets(lab)
    return "learns later"


def by_the_mean(lab):
    said = by_budgets(lab)
    return "learns later" if said == "no difference found" else said


def one_run_each(lab):
    first, second = lab.arms
    return "cannot" if of(lab, second, 6400, [0]) > of(lab, first, 6400, [0]) else "learns later"


def never_trains_the_winner(lab):
    runs = [lab.train(lab.arms[0], s, lab.rates[lab.arms[0]], 16 * lab.steps) for s in lab.seeds]
    return "cannot" if all(still(run) for run in runs) else "learns later"


def never_says(lab):
    by_budgets(lab)
    return "never"


# --- chapter 6: own rates ---------------------------------------------------------------------------


def by_the_grid(lab, choose=min, longer=1):
    """Each arm with the rate that `choose` takes by the loss on dev; the second may be trained longer."""
    found = {}
    for arm, steps in zip(lab.arms, (lab.steps, longer * lab.steps), strict=True):
        runs = {lr: [lab.train(arm, s, lr, steps) for s in lab.seeds] for lr in lab.grid}
        chosen = choose(runs.values(), key=lambda of_rate: sum(min(run.dev) for run in of_rate))
        found[arm] = [lab.test(run) for run in chosen]
    return found


def five_seeds(lab):
    def dev(arm, lr):
        return statistics.fmean(min(lab.train(arm, s, lr, lab.steps).dev) for s in range(5))

    rates = {arm: sorted(lab.grid, key=lambda lr, arm=arm: dev(arm, lr))[0] for arm in lab.arms}
    return {arm: of(lab, arm, seeds=range(5), lr=rates[arm]) for arm in lab.arms}


def rate_of_the_first(lab):
    first = lab.arms[0]
    rate = min(lab.grid, key=lambda lr: sum(min(lab.train(first, s, lr, lab.steps).dev) for s in lab.seeds))
    return {arm: of(lab, arm, lr=rate) for arm in lab.arms}


def rate_by_test(lab):
    found = {}
    for arm in lab.arms:
        found[arm] = max((of(lab, arm, lr=lr) for lr in lab.grid), key=sum)
    return found


def rate_by_one_seed(lab):
    rates = {a: min(lab.grid, key=lambda lr, a=a: min(lab.train(a, 0, lr, lab.steps).dev)) for a in lab.arms}
    return {arm: of(lab, arm, lr=rates[arm]) for arm in lab.arms}


def rate_by_the_worst_loss(lab):
    return by_the_grid(lab, choose=max)


def reports_dev(lab):
    by_the_grid(lab)
    return {arm: [1 - min(run.dev) / 2 for run in lab.trained if run.arm == arm][:5] for arm in lab.arms}


def reports_a_mean(lab):
    return {arm: [statistics.fmean(shares)] for arm, shares in by_the_grid(lab).items()}


def one_seed_for_all(lab):
    return {arm: [lab.test(lab.train(arm, 0, lr, lab.steps)) for lr in lab.grid][:1] for arm in lab.arms}


def longer_for_the_second(lab):
    return by_the_grid(lab, longer=4)


def as_pairs(lab):
    return list(by_the_grid(lab).items())


# --- chapter 7: one look ----------------------------------------------------------------------------


def lowest(run):
    return min(range(len(run.dev)), key=lambda at: run.dev[at])


def at_checkpoint(choose, arms=None, seeds=None):
    """An experiment that looks at the checkpoint of each run that is chosen so."""

    def experiment(lab):
        found = {}
        for arm in arms or lab.arms:
            runs = [lab.train(arm, s, lab.rates[arm], lab.steps) for s in (seeds or lab.seeds)]
            found[arm] = [choose(lab, run) for run in runs]
        return found

    return experiment


def by_index(lab):
    runs = [lab.train(arm, seed, lab.rates[arm], lab.steps) for arm in lab.arms for seed in range(4)]
    shares = [lab.test(run, run.dev.index(min(run.dev))) for run in runs]
    return {arm: shares[4 * n : 4 * n + 4] for n, arm in enumerate(lab.arms)}


def best_seed_only(lab):
    found = {}
    for arm in lab.arms:
        runs = [lab.train(arm, s, lab.rates[arm], lab.steps) for s in lab.seeds]
        run = min(runs, key=lambda run: min(run.dev))
        found[arm] = [lab.test(run, lowest(run))]
    return found


# --- chapter 8: more than luck ----------------------------------------------------------------------


def unbeaten(lab):
    shares = {arm: of(lab, arm) for arm in lab.arms}
    return [arm for arm in lab.arms if all(min(other) <= max(shares[arm]) for other in shares.values())]


def by_the_best_worst(lab):
    shares = {arm: of(lab, arm, seeds=range(6)) for arm in lab.arms}
    bar = max(map(min, shares.values()))
    return [arm for arm, of_arm in shares.items() if max(of_arm) >= bar]


def best_of_one_seed(lab):
    return [max(lab.arms, key=lambda arm: of(lab, arm, seeds=[0])[0])]


def one_seed_thrice(lab):
    shares = {arm: of(lab, arm, seeds=[0, 0, 0]) for arm in lab.arms}
    return [max(shares, key=lambda arm: sum(shares[arm]))]


def best_mean(lab):
    shares = {arm: of(lab, arm) for arm in lab.arms}
    return [max(shares, key=lambda arm: sum(shares[arm]))]


def all_of_them(lab):
    unbeaten(lab)
    return list(lab.arms)


def twice_each(lab):
    return unbeaten(lab) * 2


def tests_the_best_run(lab):
    found = {}
    for arm in lab.arms:
        runs = [lab.train(arm, s, lab.rates[arm], lab.steps) for s in lab.seeds]
        found[arm] = lab.test(min(runs, key=lambda run: run.dev[-1]))
    return [max(found, key=found.get)]


def leaves_one_out(lab):
    shares = {arm: of(lab, arm) for arm in lab.arms[:3]}
    return [max(shares, key=lambda arm: sum(shares[arm]))]


def more_steps_for_the_last(lab):
    shares = {arm: of(lab, arm, lab.steps * (1 + n // 3)) for n, arm in enumerate(lab.arms)}
    return [max(shares, key=lambda arm: sum(shares[arm]))]


def indices(lab):
    return [lab.arms.index(arm) for arm in unbeaten(lab)]


# --- chapter 10: could it fail? ---------------------------------------------------------------------


def against_replacing(lab):
    return better(of(lab, "pointer"), of(lab, "replaced unknowns"))


def against_both(lab):
    shares = {arm: of(lab, arm, seeds=range(4)) for arm in lab.arms}
    pointer = shares.pop("pointer")
    return all(better(pointer, other) for other in shares.values())


def against_nothing(lab):
    return better(of(lab, "pointer"), of(lab, "no copying"))


def alone(lab):
    return min(of(lab, "pointer")) > 0.5


def either_way(lab):
    return better(of(lab, "replaced unknowns"), of(lab, "no copying")) and against_nothing(lab)


def the_other_way_round(lab):
    return better(of(lab, "replaced unknowns"), of(lab, "pointer"))


def two_seeds(lab):
    return better(of(lab, "pointer", seeds=[0, 1]), of(lab, "replaced unknowns", seeds=[0, 1]))


def half_the_training(lab):
    return better(of(lab, "pointer"), of(lab, "replaced unknowns", lab.steps // 2))


# --- chapter 12: what differs? ----------------------------------------------------------------------


def with_a_control(lab, few, many):
    wide = (few[0], few[1] * many[0] * many[1] // (few[0] * few[1]))
    shares = {arm: of(lab, arm) for arm in (few, many, wide)}
    if not better(shares[many], shares[few]):
        return "neither"
    return "heads" if better(shares[many], shares[wide]) else "parameters"


def control_by_its_size(lab, few, many):
    [wide] = [a for a in lab.arms if a[0] == few[0] and lab.parameters[a] == lab.parameters[many]]
    before, after, control = (of(lab, arm, seeds=range(5)) for arm in (few, many, wide))
    gained = better(after, before)
    return "heads" if gained and better(after, control) else "parameters" if gained else "neither"


def no_control(lab, few, many):
    return "heads" if better(of(lab, many), of(lab, few)) else "neither"


def control_with_one_seed(lab, few, many):
    wide = (few[0], many[0] * many[1] // few[0])
    gained = better(of(lab, many), of(lab, few))
    return ("heads" if min(of(lab, many)) > of(lab, wide, seeds=[0])[0] else "parameters") if gained else "neither"


def longer_control(lab, few, many):
    wide = (few[0], many[0] * many[1] // few[0])
    gained = better(of(lab, many), of(lab, few))
    return ("heads" if better(of(lab, many), of(lab, wide, 4 * lab.steps)) else "parameters") if gained else "neither"


def always_parameters(lab, few, many):
    return "neither" if with_a_control(lab, few, many) == "neither" else "parameters"


def always_heads(lab, few, many):
    return "neither" if with_a_control(lab, few, many) == "neither" else "heads"


def always_a_reason(lab, few, many):
    said = with_a_control(lab, few, many)
    return "parameters" if said == "neither" else said


def in_a_sentence(lab, few, many):
    return "the heads"


# --- chapter 13: a blind baseline -------------------------------------------------------------------


def hits(looks, boxes):
    return boxes[torch.arange(len(looks)), looks].float().mean().item()


def best_place(boxes):
    return boxes.float().mean(0).argmax()


def above_blind(looks, boxes, dev_boxes):
    return hits(looks, boxes) - hits(best_place(dev_boxes).expand(len(looks)), boxes)


def by_loops(looks, boxes, dev_boxes):
    count = [sum(bool(box[place]) for box in dev_boxes) for place in range(boxes.shape[1])]
    place = count.index(max(count))
    gain = sum(int(box[look]) - int(box[place]) for look, box in zip(looks.tolist(), boxes, strict=True))
    return gain / len(boxes)


VARIANTS = {
    "equal_text": Variants(
        right={"as the short window": as_much_as_the_short, "as the long one": as_much_as_the_long},
        wrong={
            "equal steps": (equal_steps, "unequal text: '16 characters' 204,800 characters, '64 characters' 819,200"),
            "twice as many steps": (more_for_the_short, "'16 characters' 409,600 characters"),
            "one seed": (one_seed_each, "trained with 1 seed."),
            "one arm": (long_alone, "'16 characters' was never trained"),
            "always": (better_at_its_worst, "where only the amount of text counts"),
            "never": (never_better, "no better where it is"),
            "a share": (share_not_bool, "it returns float"),
        },
    ),
    "long_enough": Variants(
        right={"by budgets": by_budgets, "first and last": first_and_last},
        wrong={
            "as it was": (short_only, "its longest run has 400 steps"),
            "four times": (four_times, "its longest run has 1,600 steps"),
            "no plateau": (no_plateau, "still improving when the training ended"),
            "one arm goes on": (only_the_loser_goes_on, "'one vector' 6,400 steps, 'a vector a letter' 400 steps"),
            "always later": (always_later, "it does not say 'cannot' where the first arm has stopped"),
            "by the mean": (by_the_mean, "beats another by luck"),
            "one seed": (one_run_each, "with 1 seed."),
            "one arm": (never_trains_the_winner, "'a vector a letter' was never trained"),
            "a word of its own": (never_says, "it returns 'never'"),
        },
    ),
    "own_rates": Variants(
        right={"by the grid": by_the_grid, "five seeds": five_seeds},
        wrong={
            "one for both": (rate_of_the_first, "'gated' was not trained with the rate 0.001 nor 0.003 nor 0.03"),
            "on test": (rate_by_test, "asked about 4 rates of 'plain'"),
            "by one seed": (rate_by_one_seed, "fewer than 3 seeds"),
            "the worst": (rate_by_the_worst_loss, "The mean loss on dev is lowest with 0.01"),
            "dev": (reports_dev, "is not what the test part said"),
            "a mean": (reports_a_mean, "it reports 1 numbers of 'plain', and the test part was asked 5 times"),
            "one seed": (one_seed_for_all, "'plain' was trained with 1 seed."),
            "longer": (longer_for_the_second, "'plain' 400 steps, 'gated' 1,600 steps"),
            "pairs": (as_pairs, "asked for is a dict"),
        },
    ),
    "one_look": Variants(
        right={"the lowest": at_checkpoint(lambda lab, run: lab.test(run, lowest(run))), "by index": by_index},
        wrong={
            "best on test": (
                at_checkpoint(lambda lab, run: max(lab.test(run, at) for at in range(12))),
                "several checkpoints of one run of 'left to right'",
            ),
            "the last": (at_checkpoint(lambda lab, run: lab.test(run)), "it has begun to forget"),
            "the first": (at_checkpoint(lambda lab, run: lab.test(run, 0)), "is reported at its checkpoint 0"),
            "dev": (at_checkpoint(lambda lab, run: 1 - min(run.dev) / 2), "was never asked about 'left to right'"),
            "best seed": (best_seed_only, "1 seed was tested"),
            "one seed": (at_checkpoint(lambda lab, run: lab.test(run, lowest(run)), seeds=[7]), "with 1 seed."),
            "one arm": (
                at_checkpoint(lambda lab, run: lab.test(run, lowest(run)), arms=["left to right"]),
                "'right to left' was never trained",
            ),
            "rounded": (at_checkpoint(lambda lab, run: round(lab.test(run, lowest(run)), 2)), "is not what the test"),
        },
    ),
    "more_than_luck": Variants(
        right={"unbeaten": unbeaten, "the best worst": by_the_best_worst},
        wrong={
            "one seed": (best_of_one_seed, "'look, step' was trained with 1 seed. Another gives"),
            "one seed thrice": (one_seed_thrice, "3 times with 1 seed. The same seed"),
            "the best mean": (best_mean, "which none beats in every seed"),
            "all": (all_of_them, "whose best seed is below the worst of another"),
            "twice": (twice_each, "it names an arm twice"),
            "best runs": (tests_the_best_run, "of 'look, step', 1 seed was tested"),
            "three arms": (leaves_one_out, "'fed back' was never trained"),
            "unequal steps": (more_steps_for_the_last, "'fed back' 800 steps"),
            "numbers": (indices, "asked for are names of arms"),
        },
    ),
    "could_fail": Variants(
        right={"against replacing": against_replacing, "against both": against_both},
        wrong={
            "against nothing": (against_nothing, "It gets 0 by construction"),
            "alone": (alone, "'replaced unknowns' was never trained"),
            "either way": (either_way, "in which your experiment says no?"),
            "the other way round": (the_other_way_round, "it says no where the pointer gets .9"),
            "two seeds": (two_seeds, "was trained with 2 seeds"),
            "half the training": (half_the_training, "'replaced unknowns' 200 steps, 'pointer' 400 steps"),
        },
    ),
    "what_differs": Variants(
        right={"with a control": with_a_control, "by its size": control_by_its_size},
        wrong={
            "no control": (no_control, "2 times the heads, and 2 times the parameters"),
            "control with one seed": (control_with_one_seed, "(1, 32) was trained with 1 seed"),
            "longer control": (longer_control, "(1, 32) 1,600 steps"),
            "always parameters": (always_parameters, "where many heads are better than one with as many parameters"),
            "always heads": (always_heads, "where one head with as many parameters is as good"),
            "always a reason": (always_a_reason, "where there is no difference"),
            "a sentence": (in_a_sentence, "it returns 'the heads'"),
        },
    ),
    "blind_baseline": Variants(
        right={"indexed": above_blind, "by loops": by_loops},
        wrong={
            "hits": (lambda looks, boxes, dev: hits(looks, boxes), "the share of hits alone"),
            "chosen on test": (
                lambda looks, boxes, dev: hits(looks, boxes) - boxes.float().mean(0).max().item(),
                "chosen on the test part",
            ),
            "chance": (lambda looks, boxes, dev: hits(looks, boxes) - boxes.float().mean().item(), "hits at random"),
            "judged on dev": (
                lambda looks, boxes, dev: hits(looks, boxes) - dev.float().mean(0).max().item(),
                "was judged on dev",
            ),
            "sign": (lambda looks, boxes, dev: -above_blind(looks, boxes, dev), "the sign is wrong"),
            "a ratio": (
                lambda looks, boxes, dev: hits(looks, boxes) / hits(best_place(dev).expand(len(looks)), boxes),
                "it is another number. On",
            ),
        },
    ),
}
