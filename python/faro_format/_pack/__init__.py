"""Writing tables by key, as the command ``faro pack`` does. Needs pyarrow."""
