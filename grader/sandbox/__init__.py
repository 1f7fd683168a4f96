"""Where student code runs: the fork server, the confined worker, and what crosses the boundary."""
