"""Opening finished outputs, and delivering blocks."""
