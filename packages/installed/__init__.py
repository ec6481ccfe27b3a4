"""Installs the packages as a user does, in fresh folders, and runs the examples of their pages."""
