"""Following an output that is being written."""
