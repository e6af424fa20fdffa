"""What only the book uses: checks of exercises, recorded claims, the package's source on the page, the critical path of
a computation, and in `figures` the live figures that run a model.
"""
