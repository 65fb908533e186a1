"""The exact embedding, which keeps every transition."""
