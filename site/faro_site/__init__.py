"""Builds the documentation site from the Markdown files of the project, and checks it. See site/README.md."""
