"""`conformance/run partitioning`: `faro pack` puts every row into the right partition, for every type of key."""
