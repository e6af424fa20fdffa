"""Chapters under nbval run with the settings they were executed with."""

import os

from scripts.notebooks import KERNEL_ENVIRONMENT

os.environ.update(KERNEL_ENVIRONMENT)
