"""`conformance/run partitioning`: whether `faro pack` puts every row where it belongs, for every type of key."""
