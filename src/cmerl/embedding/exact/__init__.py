"""The exact embedding: every transition kept."""
