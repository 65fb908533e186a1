"""Experiments: what many runs say together."""
