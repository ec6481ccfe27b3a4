"""Where bytes come from and go to: files, their names and their locks."""
