"""The command: from its wheel, as pip and uv install it, and from the package of Debian."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

from installed.examples import must_print, round_trip
from release.command import needs_no_newer
from release.common import Failed, environment_of_python, only, run
from release.debian import COMPLETIONS, NAME


def check_wheel(out: Path, fresh: Path, version: str, tools: Path) -> None:
    """Install the wheel with pip and with uv, and run the command.

    Raises:
        Failed: it lacks a licence or the list of crates, or does not run.
    """
    wheel = only(out / "command", "*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    wanted = ["/licenses/LICENSE", "/licenses/THIRD-PARTY", ".cyclonedx.json"]
    if lacks := [name for name in wanted if not any(one.endswith(name) for one in names)]:
        raise Failed(f"{wheel.name}: lacks {', '.join(lacks)}")
    programs = environment_of_python(fresh / "command", [wheel])
    needs_no_newer(programs / "faro")
    round_trip(programs / "faro", fresh / "command-output", version)
    printed = run([tools / "uvx", "--isolated", "--from", wheel, "faro", "--version"], fresh)
    must_print(printed, [f"faro {version}"], "uvx")


def check_debian(out: Path, fresh: Path, version: str) -> None:
    """Install the package into a folder with a database of dpkg of its own, run the command, and remove it again.

    Raises:
        Failed: dpkg refuses it, a file is missing, or one is left.
    """
    root = fresh / "debian"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    # The folder has no libc6.
    dpkg = ["dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--force-script-chrootless"]
    run([*dpkg, "--install", only(out / "command", "*.deb")], fresh)
    round_trip(root / "usr/bin/faro", fresh / "debian-output", version)
    for page in ("faro", "faro-pack", "faro-check"):
        text = gzip.decompress((root / f"usr/share/man/man1/{page}.1.gz").read_bytes())
        if b"\n.TH " not in text:
            raise Failed(f"{page}.1 is not a manual page")
    for shell, name in COMPLETIONS.items():
        if "faro" not in (root / name).read_text():
            raise Failed(f"no completions for {shell}")
    run(["bash", "-n", root / COMPLETIONS["bash"]], fresh)
    run([*dpkg, "--verify", NAME], fresh)
    run([*dpkg, "--remove", NAME], fresh)
    if (root / "usr/bin/faro").exists():
        raise Failed("dpkg --remove left usr/bin/faro")
