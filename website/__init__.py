"""From the executed notebooks to what is read: lecture decks, archives, the PDF, and small extensions of Sphinx."""
