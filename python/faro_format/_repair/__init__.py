"""What is left of an output that was not finished."""
