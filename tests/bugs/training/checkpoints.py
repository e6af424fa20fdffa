"""Bugs of one line in attnlib/training/checkpoints.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/checkpoints.py", "training/test_checkpoints.py",
    ("checkpoint written in place", "torch.save(state, scratch)\n        scratch.replace(path)",
     "torch.save(state, path)"),
    ("checkpoint may run code", "map_location=device, weights_only=True", "map_location=device, weights_only=False"),
    ("other names forgiven",
     "copy.deepcopy(model).load_state_dict(state)  # refuses what does not fit before the model is touched\n        "
     "model.load_state_dict(state)",
     "model.load_state_dict(state, strict=False)"),
    ("refused checkpoint half loaded", "copy.deepcopy(model).load_state_dict(state)", "isinstance(state, dict)"),
    ("run of another model half loaded", '        copy.deepcopy(whole["model"]).load_state_dict(saved["model"])\n', ""),
) + of(
    "training/checkpoints.py", "training/test_loop.py",
    ("optimizer begins anew", "        thing.load_state_dict(saved[name])",
     '        thing.load_state_dict(saved[name]) if name != "optimizer" else None'),
    ("schedule begins anew", "        thing.load_state_dict(saved[name])",
     '        thing.load_state_dict(saved[name]) if name != "schedule" else None'),
    ("random numbers not put back", "        torch.set_rng_state(states[rank][0])\n", "        pass\n"),
) + of(
    "training/checkpoints.py", "training/test_distributed.py",
    ("every process writes", "    if rank_and_world_size()[0]:\n        return\n", "",
     "test_only_the_first_process_writes_and_shows_its_progress"),
    ("each process gets the numbers of the first", "states[rank][0]", "states[0][0]",
     "test_an_interrupted_run_of_several_goes_on_as_if_nothing_had_happened"),
)
