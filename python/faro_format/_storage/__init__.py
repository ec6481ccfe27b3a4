"""Files, their names and their locks."""
