"""Grading on Gradescope: the archive, what runs in its container, and results.json."""
