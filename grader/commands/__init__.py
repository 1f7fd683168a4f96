"""The commands, one module each; `grader.cli` puts them together."""
