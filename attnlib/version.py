"""The version of the book and of the package."""

__version__ = "0.1.0.dev0"
