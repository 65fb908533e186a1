"""Policy evaluation: by playing, by a proof, or by regression on data."""
