"""Prints the result of the Python reader's check of NAME as JSON: code and offset of the first fault, or null."""

import json
import sys
from pathlib import Path

from faro_format import FaroError, check


def main() -> None:
    """Check at the deepest level."""
    name = Path(sys.argv[1])
    try:
        check(data=name.with_suffix(".data"), index=name.with_suffix(".index"), level="decode")
        print(json.dumps({"code": None, "offset": None}))
    except FaroError as error:
        print(json.dumps({"code": str(error.code), "offset": error.offset}))


if __name__ == "__main__":
    main()
