"""Writing an output."""
