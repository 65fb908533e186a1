"""Displacement: regress s' − s and read V at the predicted next state."""
