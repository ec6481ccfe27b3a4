"""Makes the conformance cases: a reading of the specification that shares no code with any implementation."""
