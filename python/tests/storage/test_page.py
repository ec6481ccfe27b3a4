"""The Python examples of docs/storage.md run as they are written, except for what stands for a user's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from remote import BUCKET, ObjectStore

import faro_format as faro
from faro_format import storage

PAGE = Path(__file__).parents[3] / "docs" / "storage.md"


@pytest.fixture
def examples() -> list[str]:
    found = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(found) == 3
    return found


def run(code: str, **names: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"faro": faro, "storage": storage, **names}
    exec(code, known)
    return known


def test_the_examples_of_destinations_and_stored_files(examples: list[str]) -> None:
    reading, writing, _ = examples
    destination = storage.MemoryDestination("orders")
    writer = run(writing, destination=destination)["writer"]
    writer.write(7, b"record")
    writer.finish()
    data, index = (storage.MemoryFile(destination.files[f"orders.{role}"]) for role in ("data", "index"))
    reader = run(reading, data=data, index=index)["reader"]
    assert list(reader.records(7)) == [b"record"]


def test_the_example_of_object_stores(object_store: ObjectStore, examples: list[str]) -> None:
    object_store.clear()
    # The machine of a test has no profiles.
    code = examples[2].replace('storage_options={"profile": "analytics"}', "storage_options=options")
    assert f"s3://{BUCKET}/orders" in code
    code = code.replace('.check("s3://bucket/orders")', '.check("s3://bucket/orders", storage_options=options)')
    with run(code, options=object_store.options)["reader"] as reader:
        assert list(reader.records(7)) == [b"record"]
    object_store.clear()
