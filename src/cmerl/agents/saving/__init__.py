"""Saving agents: the container, the schema of a file, and reading and writing."""
