"""The settings of the kernels that run chapters, for whoever starts one."""

#: Chapters run under these settings, here and under nbval, so that the same machine gives the same text:
#: one thread adds numbers in one order (and is faster in small recurrent loops), and a progress bar would
#: store seconds.
KERNEL_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "PYTHONHASHSEED": "0"}
