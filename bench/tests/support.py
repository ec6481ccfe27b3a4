"""Invented results."""

from __future__ import annotations

from typing import Any

from harness.lines import Line


def line(language: str, subject: str, seconds: list[float], part: str = "write", **case: Any) -> Line:
    chosen: dict[str, Any] = {
        "data": "text", "record_bytes": 100, "partitions": 64, "buffer_mib": 16, "codec": "none", "plain_bytes": 10**9,
    }  # fmt: skip
    figures = case.pop("figures", {})
    return Line(part, language, subject, chosen | case, tuple(seconds), 10**9, figures=figures)


def bench(lines: list[Line], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "date": "2026-01-02T03:04:05+00:00",
        "commit": "0" * 40,
        "changed": False,
        "command": "bench/run",
        "quick": False,
        "seconds": 1.0,
        "machine": {"cpu": "c", "cores": 2, "memory_bytes": 1 << 30, "kernel": "k", "filesystem": "f"},
        "versions": {"python": "3"},
        "results": [one.to_json() for one in lines],
        "failures": [],
    } | more


def grid(rust: float, flink: float) -> list[Line]:
    """Cells of Rust and Flink. One is slower."""
    lines = []
    for partitions in (64, 1000, 10_000):
        for buffer in (16, 128):
            cell: dict[str, Any] = {"partitions": partitions, "buffer_mib": buffer}
            slow = 3.0 if partitions == 10_000 and buffer == 16 else 1.0
            lines.append(line("rust", "faro", [rust * slow, rust * slow], **cell))
            lines.append(line("java", "flink", [flink, flink], **cell))
    return lines
