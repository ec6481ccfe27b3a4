"""What holds for all tests."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device itself is not asked, which takes a while; that it would be, test_system_calls.py sees."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
