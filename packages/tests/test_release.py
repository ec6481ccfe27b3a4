"""What the checks of the packages find, and that two builds are the same."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from installed.examples import must_print
from release import metadata, sums, versions
from release.command import needs_no_newer, without_paths
from release.common import ROOT, Failed, run
from release.maven import PASSES, rename
from release.notices import linked, texts
from release.python import with_one_time, without_addresses_of_files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the files that name a version, or what a package says of itself."""
    patterns = ["java/pom.xml", "java/*/pom.xml", "fuzz/java/pom.xml", "rust/**/Cargo.toml", "**/LICENSE"]
    patterns += ["python/pyproject.toml", "packages/faro-cli/pyproject.toml", "rust/faro/examples/quickstart.rs"]
    patterns += [*versions.LOCKS, *versions.NAMED, "python/faro_format/__init__.py", "rust/faro/README.md"]
    names = subprocess.run(
        ["git", "ls-files", "--", *(f":(glob){pattern}" for pattern in patterns)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_version_is_set_everywhere(project: Path) -> None:
    before = versions.agreed(project)
    changed = versions.set_all(project, "7.8.9")
    assert versions.agreed(project) == "7.8.9"
    assert metadata.check(project) == "7.8.9"
    assert f"{before}-SNAPSHOT" not in "".join(path.read_text() for path in changed)
    assert "<version>7.8.9-SNAPSHOT</version>" in (project / "java/faro-bom/pom.xml").read_text()


def test_a_page_of_a_release_has_its_version_set(project: Path) -> None:
    before = versions.agreed(project)
    page = project / "README.md"
    page.write_text(page.read_text().replace(f"{before}-SNAPSHOT", before))
    assert page in versions.set_all(project, "7.8.9")
    assert "`dev.faro:faro-format:7.8.9`" in page.read_text()


def test_a_release_has_no_snapshot(project: Path) -> None:
    versions.without_snapshot(project)
    assert "SNAPSHOT" not in "".join(pom.read_text() for pom in versions.poms(project))


@pytest.mark.parametrize("name", ["rust/Cargo.lock", "java/faro-bom/pom.xml", "python/pyproject.toml", "README.md"])
def test_one_place_with_another_version_is_named(project: Path, name: str) -> None:
    path = project / name
    path.write_text(path.read_text().replace(versions.agreed(project), "7.8.9"))
    with pytest.raises(Failed, match=rf"7\.8\.9 +{name}"):
        versions.agreed(project)


@pytest.mark.parametrize("version", ["1.0", "1.0.0-SNAPSHOT", "v1.0.0", ""])
def test_a_version_is_three_numbers(project: Path, version: str) -> None:
    with pytest.raises(Failed, match="three numbers"):
        versions.set_all(project, version)


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("java/pom.xml", "https://github.com/faro-format/faro.git", "https://example.org/other/faro.git", None),
        ("python/pyproject.toml", "https://github.com/faro-format/faro/issues", "https://example.org", "example.org"),
        ("java/faro-hadoop/pom.xml", "description>", "other>", "no description"),
        ("java/faro-bom/pom.xml", "developers>", "authors>", "no developers"),
        ("rust/faro-cli/LICENSE", "Apache", "Another", "is not the licence"),
        ("rust/faro-cli/Cargo.toml", "look at", "see", "descriptions"),
        ("rust/faro/README.md", "broadcast", "scatter", "its example"),
    ],
)
def test_metadata_that_disagree_are_named(project: Path, name: str, old: str, new: str, fault: str | None) -> None:
    path = project / name
    path.write_text(path.read_text().replace(old, new))
    found = metadata.faults(project)
    assert [one for one in found if (fault or "other/faro.git") in one and len(found) == 1]


def test_a_changed_file_differs_from_its_sum(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    sums.write(tmp_path)
    sums.verify(tmp_path)
    (tmp_path / "b").write_text("3")
    (tmp_path / "c").write_text("4")
    with pytest.raises(Failed, match="b, c$"):
        sums.verify(tmp_path)


def archive(path: Path, time: int, owner: str) -> bytes:
    """An archive as setuptools makes it, packed again with one time."""
    with tarfile.open(path, "w:gz") as made:
        for name in ("two", "one"):
            member = tarfile.TarInfo(name)
            member.mtime, member.uname, member.size = time, owner, 3
            made.addfile(member, io.BytesIO(b"abc"))
    with_one_time(path, 1_000_000_000)
    return path.read_bytes()


def test_archives_of_two_machines_are_the_same(tmp_path: Path) -> None:
    first = archive(tmp_path / "a.tar.gz", 1_700_000_000, "one")
    assert first == archive(tmp_path / "b.tar.gz", 1_800_000_000, "two")
    with tarfile.open(tmp_path / "a.tar.gz") as packed:
        assert [(one.name, one.mtime, one.uname) for one in packed] == [(n, 1_000_000_000, "") for n in ("one", "two")]
        assert all(packed.extractfile(one).read() == b"abc" for one in packed)  # type: ignore[union-attr]


def test_a_wheel_does_not_name_the_folder_it_was_built_in(tmp_path: Path) -> None:
    wheel, name = tmp_path / "a.whl", "a.dist-info/sboms/a.json"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(name, f"path+file://{tmp_path}/rust")
        file.writestr("a.dist-info/RECORD", f"faro,,\n{name},sha256=x,1\na.dist-info/RECORD,,\n")
    assert without_paths(wheel, tmp_path) == b"path+file:///faro/rust"
    with zipfile.ZipFile(wheel) as file:
        assert file.read(name) == b"path+file:///faro/rust"
        _, recorded, _ = file.read("a.dist-info/RECORD").decode().splitlines()
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"path+file:///faro/rust").digest()).decode().rstrip("=")
    assert recorded == f"{name},sha256={digest},22"


def test_a_folder_with_other_files_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("text")
    built = subprocess.run([ROOT / "packages/build", "--out", tmp_path], capture_output=True, text=True, check=False)
    assert built.returncode == 1
    assert "thesis" in built.stderr
    assert (tmp_path / "thesis").read_text() == "text"


def test_a_list_of_needs_has_no_address_of_a_file() -> None:
    references = [{"url": "file:///home/a/faro.whl"}, {"url": "https://example.org"}]
    listed = json.dumps({"components": [{"name": "faro", "externalReferences": references}, {"name": "numpy"}]})
    components = json.loads(without_addresses_of_files(listed))["components"]
    assert components == [{"name": "faro", "externalReferences": references[1:]}, {"name": "numpy"}]


def test_a_program_that_needs_a_newer_glibc_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "faro"
    program.write_bytes(b"\0GLIBC_2.2.5\0GLIBC_2.28\0")
    needs_no_newer(program)
    program.write_bytes(b"\0GLIBC_2.9\0GLIBC_2.34\0")
    with pytest.raises(Failed, match=r"needs glibc 2\.34"):
        needs_no_newer(program)


def test_lines_are_printed_in_their_order() -> None:
    must_print("a\nx\nb\n", ["a", "b"], "it")
    with pytest.raises(Failed, match="'a'"):
        must_print("b\na\n", ["b", "a", "a"], "it")


@pytest.mark.parametrize("line", [line for lines in PASSES for line in lines], ids=lambda line: line.artifact)
def test_a_line_of_an_engine_has_a_name_of_its_own(project: Path, line: object) -> None:
    pom = project / "java" / line.module / "pom.xml"  # type: ignore[attr-defined]
    before = pom.read_text()
    assert rename(pom, line) == before  # type: ignore[arg-type]
    assert f"<artifactId>{line.artifact}</artifactId>" in pom.read_text()  # type: ignore[attr-defined]


def test_only_what_is_linked_is_named() -> None:
    def package(name: str, source: str | None = "registry") -> dict[str, object]:
        return {"id": name, "name": name, "version": "1", "source": source}

    def node(name: str, *needs: tuple[str, str | None]) -> dict[str, object]:
        return {"id": name, "deps": [{"pkg": need, "dep_kinds": [{"kind": kind}]} for need, kind in needs]}

    names = ["used", "deep", "for-build", "for-tests", "other"]
    nodes = [
        node("faro-cli", ("used", None), ("for-build", "build"), ("for-tests", "dev")),
        node("used", ("deep", None)),
    ]
    nodes += [node(name) for name in names[1:]]
    packages = [package("faro-cli", None), *map(package, names)]
    found = linked({"packages": packages, "resolve": {"nodes": nodes}}, "faro-cli")
    assert [one["name"] for one in found] == ["deep", "used"]


def test_licences_of_libraries_inside_are_found(tmp_path: Path) -> None:
    (tmp_path / "zstd").mkdir()
    for name, text in [
        ("LICENSE-MIT", "mit"),
        ("zstd/LICENSE", "bsd"),
        ("zstd/COPYING", "gpl"),
        ("license.rs", "code"),
    ]:
        (tmp_path / name).write_text(text)
    assert texts(tmp_path) == ["mit", "bsd"]


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="(?s)ended with 3.*the cause"):
        run(["sh", "-c", "echo the cause >&2; exit 3"], tmp_path)
    with pytest.raises(Failed, match="nosuch: No such file"):
        run(["nosuch"], tmp_path)
