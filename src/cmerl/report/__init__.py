"""Reports: one HTML page from results; nothing is run here."""
