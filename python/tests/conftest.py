"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from remote import monkeypatch_session, object_store

__all__ = ["monkeypatch_session", "object_store"]


@pytest.fixture(autouse=True)
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device itself is not asked, which takes a while; that it would be, test_system_calls.py sees."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
