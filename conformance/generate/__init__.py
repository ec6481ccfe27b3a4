"""Makes the conformance cases. It is written from the specification and shares no code with any implementation."""
