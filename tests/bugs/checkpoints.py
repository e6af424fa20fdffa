"""Bugs of one line in attnlib/checkpoints.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checkpoints.py", "test_checkpoints.py",
    ("checkpoint written in place", "torch.save(state, scratch)\n        scratch.replace(path)",
     "torch.save(state, path)"),
    ("half a checkpoint left behind", "scratch.unlink(missing_ok=True)", "pass"),
    ("checkpoint may run code", "map_location=device, weights_only=True", "map_location=device, weights_only=False"),
    ("other names forgiven",
     "copy.deepcopy(model).load_state_dict(state)  # refuses what does not fit before the model is touched\n"
     "        model.load_state_dict(state)", "model.load_state_dict(state, strict=False)"),
    ("refused checkpoint half loaded", "copy.deepcopy(model).load_state_dict(state)", "isinstance(state, dict)"),
    ("run may run code", "map_location=\"cpu\", weights_only=True", "map_location=\"cpu\", weights_only=False"),
    ("run of another model half loaded", "        copy.deepcopy(whole[\"model\"]).load_state_dict(saved[\"model\"])\n",
     ""),
    ("other settings forgiven", "    if found != settings:\n", "    if False:\n"),
    ("optimizer begins anew", "        thing.load_state_dict(saved[name])",
     "        thing.load_state_dict(saved[name]) if name != \"optimizer\" else None"),
    ("schedule begins anew", "        thing.load_state_dict(saved[name])",
     "        thing.load_state_dict(saved[name]) if name != \"schedule\" else None"),
    ("progress lost", "**progress, \"random\": random_state", "\"random\": random_state"),
    ("random numbers not put back", "        torch.set_rng_state(states[rank][0])\n", "        pass\n"),
) + of(
    "checkpoints.py", "test_parallel.py",
    ("every process writes", "    if process()[0]:\n        return\n", ""),
    ("all processes share random numbers", "dist.all_gather_object(random_state, _random_state())", "pass"),
    ("each process gets the numbers of the first", "states[rank][0]", "states[0][0]"),
)
