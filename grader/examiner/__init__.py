"""The trusted side: one warm pytest session that examines each submission in a child of its own."""
