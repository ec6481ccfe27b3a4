"""The library as a package: what the wheel says of itself, and what is imported without pyarrow."""

from __future__ import annotations

import email
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import faro_format as faro

PROJECT = Path(__file__).parents[1]
BLOCK_PYARROW = "import sys; sys.modules['pyarrow'] = None\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    # Elsewhere, as a build leaves files beside what it builds.
    shutil.copytree(PROJECT / "faro_format", source / "faro_format", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, source)
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return zipfile.ZipFile(made)


def metadata_of(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    metadata = metadata_of(wheel)
    assert metadata["Version"] == faro.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).strip() == (PROJECT / "README.md").read_text().strip()
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert metadata.get_all("Provides-Extra") == ["arrow", "fsspec", "pandas", "polars", "duckdb", "notebook"]


def test_the_wheel_has_the_licence_and_the_types(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    (licence,) = (name for name in names if name.endswith("/LICENSE"))
    assert wheel.read(licence) == (PROJECT.parent / "LICENSE").read_bytes()
    assert "faro_format/py.typed" in names
    assert not [name for name in names if not name.startswith(("faro_format/", "faro_format-"))]


def run(code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "use",
    [
        "import faro_format.arrow",
        "import faro_format as faro; faro.Writer('out', faro.WriterOptions(1)).finish(); faro.open('out').to_arrow()",
        "import faro_format as faro; faro.write(None, 'out', by='x')",
        "import faro_format as faro; faro.Writer('out', faro.WriterOptions(1)).write_arrow_column([0], ['x'])",
        "import array, faro_format.key; faro_format.key.encode_column(type('Column', (), {'buffers': None})())",
    ],
)
def test_without_pyarrow_the_error_says_how_to_get_it(tmp_path: Path, use: str) -> None:
    done = run(BLOCK_PYARROW + use, tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: ")
    assert 'the extra "arrow"' in last
    assert "pip install './python[arrow]'" in last
    # An index has a package of a stranger under this name.
    assert "install faro" not in done.stderr
    assert "pyarrow.py" not in last


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_without_a_library_of_dataframes_the_error_says_how_to_get_it(tmp_path: Path, name: str) -> None:
    use = f"""
import sys
import faro_format as faro, pyarrow as pa
faro.write(pa.table({{"x": [1]}}), "out", by="x")
sys.modules[{name!r}] = None
faro.open("out").to_{name}()
"""
    done = run(use, tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: ")
    assert f'the extra "{name}"' in last
    assert f"pip install './python[{name}]'" in last


def test_without_pyarrow_records_are_read_and_written(tmp_path: Path) -> None:
    use = """
import faro_format as faro
import faro_format.key
assert faro.key.partition_columns([[1, "x"]], 8).size == 2
with faro.Writer("out", faro.WriterOptions(2)) as writer:
    writer.write(1, b"one")
with faro.open("out") as reader:
    assert [bytes(record) for record in reader[1]] == [b"one"]
    assert "<svg" in reader._repr_html_()
assert faro.Shuffle(".").sum_up().records == 1
"""
    done = run(BLOCK_PYARROW + use, tmp_path)
    assert done.returncode == 0, done.stderr


def test_no_page_advises_to_install_a_package_of_a_stranger() -> None:
    for path in (PROJECT / "README.md", *(PROJECT / "faro_format").rglob("*.py")):
        assert "pip install faro" not in path.read_text(), path


def test_the_examples_of_the_readme_run(tmp_path: Path) -> None:
    parts = (PROJECT / "README.md").read_text().split("```python\n")[1:]
    assert len(parts) == 2
    done = run("".join(part.split("```")[0] for part in parts), tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[:2] == ["for partition 7", "for every partition"]
    assert said[-1] == "{'id': [1, 3], 'name': ['one', 'three']}"
