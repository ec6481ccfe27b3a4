"""Which clauses of the specification have a case: every clause that says MUST needs one, or a test elsewhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from faro_conformance.manifest import entries

from .specification import SPEC, clauses

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "rust": r"#\[test\]\s+(?:#\[[^\n]*\]\s+)*fn {name}\(",
    "java": r"@Test\s+(?:@[^\n]*\s+)*void {name}\(",
    "python": r"^def {name}\(",
    "conformance": r"^def {name}\(",
}
"""What a test looks like in each language, and in each folder of a library."""
LIBRARIES = [language for language in TESTS if language != "conformance"]


def demanding(texts: dict[str, str]) -> set[str]:
    """The clauses whose text has MUST."""
    return {name for name, text in texts.items() if re.search(r"\bMUST\b", text)}


def with_cases(root: Path = ROOT) -> set[str]:
    """The clauses that cases name."""
    return {clause for case in entries(root / "cases") for clause in case["clause"]}


def is_test(language: str, test: str, libraries: Path = SPEC.parent) -> bool:
    """Whether the test ``path/of/its/file::name`` exists. The path is relative to the folder of its library."""
    path, _, name = test.partition("::")
    file = libraries / language / path
    pattern = TESTS[language].format(name=re.escape(name))
    return file.is_file() and re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE) is not None


def problems(root: Path = ROOT, spec: Path = SPEC) -> Iterable[str]:
    """Clauses without a case or test, and names of tests that do not exist."""
    texts, cases = clauses(spec), with_cases(root)
    elsewhere = json.loads((root / "cases" / "elsewhere.json").read_text(encoding="utf-8"))["clauses"]
    for clause in sorted(demanding(texts) - cases - set(elsewhere)):
        yield f"{clause}: says MUST and has no case"
    for clause in sorted((cases | set(elsewhere)) - set(texts)):
        yield f"{clause}: is not a clause of the specification"
    for clause, entry in elsewhere.items():
        # Tests in conformance/ test every implementation.
        together = entry["tests"].get("conformance", [])
        for test in together:
            if not is_test("conformance", test):
                yield f"{clause}: there is no test {test} in conformance/"
        for language in LIBRARIES if not together else ():
            tests = entry["tests"].get(language)
            # If a language has nothing that the clause applies to, the entry says why.
            if not tests and language not in entry.get("without", {}):
                yield f"{clause}: elsewhere.json names no test for {language}"
            for test in tests or ():
                if not is_test(language, test):
                    yield f"{clause}: there is no test {test} for {language}"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found) or f"{len(demanding(clauses()))} clauses that say MUST are tested")
    sys.exit(1 if found else 0)
