"""Search by simulation in NumPy only, for agents and for exported policies."""
