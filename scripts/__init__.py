"""What makes and keeps the book: from a chapter's source to its notebook, and what stands in README and releases."""
