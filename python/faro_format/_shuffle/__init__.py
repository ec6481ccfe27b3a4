"""A whole shuffle: the outputs of many producers, read together."""
