"""Naming the mistake: what to ask a student's code, and what its answers and source tell."""
