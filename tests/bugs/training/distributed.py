"""Bugs of one line in attnlib/training/distributed.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "training/distributed.py", "training/test_distributed.py",
    ("mean of means", "share = mean * (own * n_processes / tokens).to(mean.dtype)", "share = mean",
     "test_loss_and_gradient_are_those_of_the_whole_batch"),
    ("gradient divided twice", "own * n_processes / tokens", "own / tokens",
     "test_loss_and_gradient_are_those_of_the_whole_batch"),
    ("each reports its own loss", "share - share.detach() + (total / tokens).to(mean.dtype)", "share",
     "test_loss_and_gradient_are_those_of_the_whole_batch"),
    ("no average of gradients", "mean, n_tokens = loss(replica, batch)", "mean, n_tokens = loss(model, batch)",
     "test_loss_and_gradient_are_those_of_the_whole_batch"),
    ("everybody takes the first share", "own := rows[rank::n]", "own := rows[0::n]",
     "test_the_shares_make_up_the_batch"),
    ("everybody takes all", "own := rows[rank::n]", "own := rows", "test_the_shares_make_up_the_batch"),
    ("a small last batch stops some", "if len(rows) >= n else []", "if n else []",
     "test_a_last_batch_too_small_for_all_is_left_out_by_all"),
    ("one number for all", "return dist.get_rank(), dist.get_world_size()", "return 0, dist.get_world_size()",
     "test_each_process_knows_its_number"),
    ("threads outlive their group, which torch's defaults hold",
     '    import_module("torch.distributed.nn.functional")', "", "test_it_ends_with_no_thread_of_the_group_left"),
    ("threads outlive their group, which DDP holds", "        gc.collect()\n", "",
     "test_it_ends_with_no_thread_of_the_group_left"),
    ("threads outlive their group, which an error holds", "        traceback.clear_frames(error.__traceback__)", "",
     "test_it_ends_with_no_thread_of_the_group_left"),
)
