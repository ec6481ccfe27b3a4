"""`fuzz/run`."""

import sys

from differential.cli import main

sys.exit(main(sys.argv[1:]))
