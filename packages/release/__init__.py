"""Makes the packages of a release, each from the committed files only."""
