"""Measures which damage is detected: files damaged in every likely way, and the answer of each reader."""
