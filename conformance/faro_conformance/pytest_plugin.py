"""A pytest plugin: `pytest --faro-testee "COMMAND"` runs every case as a test with its id as name.

Without that option it does nothing. The writer x reader matrix needs several testees at a time:
`conformance/run` runs it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from faro_conformance.child import CannotStartError, Child
from faro_conformance.execute import run_case
from faro_conformance.expected import apply, load
from faro_conformance.manifest import Case, Suite
from faro_conformance.protocol import Protocol, SuiteError
from faro_conformance.results import Result
from faro_conformance.testees import find_testees

_KEY = pytest.StashKey["_Cases"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("faro", "Faro conformance")
    group.addoption("--faro-testee", action="append", default=[], metavar="NAME|FILE.toml|COMMAND", help="what to test")
    group.addoption("--faro-suite", type=Path, default=Path(__file__).parents[1], help="the folder conformance/")
    group.addoption("--faro-timeout", type=float, default=60.0, help="seconds for each answer")


class _Cases:
    """State shared by the items: the children, and the folder for files that the cases write."""

    def __init__(self, config: pytest.Config) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="faro-")
        self.folder = Path(self._temporary.name)
        self._generated = self.folder / "generated"
        self._generated.mkdir()
        self.suite = Suite(config.getoption("--faro-suite"))
        self.cases = self.suite.cases(self._generated)
        testees = find_testees(config.getoption("--faro-testee"), self.suite.testees, self.suite.repo)
        protocol = Protocol(self.suite.schema)
        timeout = config.getoption("--faro-timeout")
        self.children = {testee.name: Child(testee, protocol, timeout, self.folder) for testee in testees}
        self.expected = {testee.name: load(testee.expected_failures) for testee in testees}
        self._made = False

    def run(self, case: Case, name: str) -> Result:
        """Run one case with one testee."""
        if case.generated and not self._made:
            self.suite.generate(self._generated)
            self._made = True
        self.suite.verify([case])
        child = self.children[name]
        if not child.hello:
            child.start()
        return apply(run_case(case, child, self.folder / name / case.id), self.expected[name])

    def close(self) -> None:
        """End the children."""
        for child in self.children.values():
            child.stop()
            child.kill()
        self._temporary.cleanup()


class CaseFailedError(Exception):
    """The case's failures, one on each line."""


class CaseItem(pytest.Item):
    """One case with one testee."""

    def __init__(self, *, case: Case, testee: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.case = case
        self.testee = testee
        for clause in case.clauses:
            self.extra_keyword_matches.add(clause)

    def runtest(self) -> None:
        """Run it."""
        result = self.config.stash[_KEY].run(self.case, self.testee)
        if result.status == "skipped":
            pytest.skip(result.reason)
        text = "\n".join(str(failure) for failure in result.failures)
        if result.status == "expected-failure" or (result.status == "failed" and result.recommended):
            pytest.xfail(f"{result.reason or 'recommended'}: {text}")
        if result.status == "failed":
            raise CaseFailedError(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The failure without a traceback into the runner, which would not help."""
        if isinstance(excinfo.value, CaseFailedError | CannotStartError | SuiteError):
            return f"{self.case.title} [{', '.join(self.case.clauses)}]\n{excinfo.value}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The location of the case, for the headings of failures."""
        return self.config.rootpath, None, self.name


def _items(session: pytest.Session, cases: _Cases) -> Iterator[CaseItem]:
    several = len(cases.children) > 1
    for name in cases.children:
        for case in cases.cases:
            title = f"{case.id}[{name}]" if several else case.id
            yield CaseItem.from_parent(session, name=title, nodeid=title, case=case, testee=name)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases, before `-k` and the like choose."""
    if not config.getoption("--faro-testee"):
        return
    try:
        cases = config.stash[_KEY] = _Cases(config)
    except SuiteError as error:
        raise pytest.UsageError(str(error)) from error
    items.extend(_items(session, cases))


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the children."""
    cases = config.stash.get(_KEY, None)
    if cases is not None:
        cases.close()
