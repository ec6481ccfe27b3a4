"""Numbers and bytes: headers, tails, checksums, and arrays of spans."""
