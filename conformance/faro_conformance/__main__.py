"""`python -m faro_conformance`: the same as `conformance/run`."""

import sys

from faro_conformance.cli import main

sys.exit(main())
