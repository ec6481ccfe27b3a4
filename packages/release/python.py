"""The library for Python: its source, its wheel, and the list of what it needs."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from pathlib import Path

from release.common import environment_of_python, only, run
from release.source import Source


def with_one_time(archive: Path, epoch: int) -> None:
    """Pack an archive again, with one time and no owner: setuptools takes both from the machine (setuptools #2133)."""
    packed = io.BytesIO()
    with (
        tarfile.open(archive) as old,
        gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=epoch) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, epoch
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(plain, old.extractfile(member) if member.isfile() else None)
    archive.write_bytes(packed.getvalue())


def build(source: Source, tools: Path, work: Path, out: Path) -> None:
    """Make `python/` with both files, checked by PyPI's own check, and `sbom/python.cdx.json`."""
    made = out / "python"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    # The wheel is built from the source archive, so the archive is complete.
    run(
        [tools / "python", "-m", "build", "--no-isolation", "--outdir", made, source.folder / "python"],
        work,
        source.environment,
    )
    with_one_time(only(made, "*.tar.gz"), source.epoch)
    run([tools / "twine", "check", "--strict", *sorted(made.iterdir())], work)


def list_needs(tools: Path, work: Path, out: Path) -> None:
    """Make `sbom/python.cdx.json`: what the wheel gets today from the registry."""
    programs = environment_of_python(work / "needs", [only(out / "python", "*.whl")])
    # The tool that installed it is not a part of it.
    run([programs / "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip"], work)
    (out / "sbom").mkdir(exist_ok=True)
    options = ["--output-reproducible", "--of", "JSON", "--output-file"]
    listed = out / "sbom/python.cdx.json"
    run([tools / "cyclonedx-py", "environment", *options, listed, programs / "python"], work)
    listed.write_text(without_addresses_of_files(listed.read_text()))


def without_addresses_of_files(listed: str) -> str:
    """Take addresses of this machine's files out of a list of needs: that of the wheel which was installed."""
    found = json.loads(listed)
    for component in found["components"]:
        references = component.get("externalReferences", [])
        references[:] = [reference for reference in references if not reference["url"].startswith("file:")]
    return json.dumps(found, indent=2)
