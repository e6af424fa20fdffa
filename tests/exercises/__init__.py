"""Graded assignments: their sources, known-wrong answers, the proof that both belong together, and the grader."""
