"""Untrusted files in: the layouts of submissions and their staging for a worker."""
