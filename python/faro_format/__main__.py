"""``python -m faro_format NAME``: what an output or a shuffle is, as text, JSON, or a page."""

import sys

from faro_format._command.main import main

sys.exit(main())
