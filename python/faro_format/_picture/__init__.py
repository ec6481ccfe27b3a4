"""Pictures of sizes, and facts about outputs, as HTML and plain text for people."""
