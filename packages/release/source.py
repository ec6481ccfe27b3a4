"""The committed files in a folder of their own, so that nothing else gets into a package."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from release import versions
from release.common import ROOT, run


@dataclass(frozen=True)
class Source:
    """A copy of one commit."""

    folder: Path
    version: str
    # Seconds since 1970 of the commit: the time of every file in the packages.
    epoch: int

    @property
    def environment(self) -> dict[str, str]:
        """What makes tools write that time instead of the present."""
        return {"SOURCE_DATE_EPOCH": str(self.epoch)}


def export(work: Path) -> Source:
    """Bring the folder `source` to the last commit. Files that did not change keep their times, for cargo."""
    folder = work / "source"
    commit = run(["git", "rev-parse", "HEAD"], ROOT).strip()
    if changed := run(["git", "status", "--porcelain", "--untracked-files=no"], ROOT).splitlines():
        print(
            f"{len(changed)} files have changes that are not committed: they are not in the packages", file=sys.stderr
        )
    if not (folder / ".git").exists():
        run(["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder], ROOT)
    run(["git", "fetch", "--quiet", "origin", commit], folder)
    run(["git", "checkout", "--quiet", "--force", "--detach", commit], folder)
    run(["git", "clean", "--quiet", "-ffdx"], folder)
    versions.without_snapshot(folder)
    epoch = int(run(["git", "log", "-1", "--format=%ct", commit], folder))
    return Source(folder, versions.agreed(folder), epoch)
