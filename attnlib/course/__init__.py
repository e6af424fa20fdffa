"""What only the book uses: checks of exercises, recorded claims, the source on the page, how deep a graph is."""
