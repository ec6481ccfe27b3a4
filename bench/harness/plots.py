"""Plots as SVG: the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from harness.figures import Results, Spread, speed
from harness.lines import Line
from harness.store import RESULTS

_STYLE: Any = {
    "svg.hashsalt": "faro",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    # Colours that colour-blind people can tell apart (Okabe and Ito).
    "axes.prop_cycle": cycler(color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]),
}
_X = {
    "partitions": "partitions",
    "data_mib": "plain data, MiB",
    "record_bytes": "bytes of a record",
    "regions": "regions",
    "threads": "compressing threads",
}


@dataclass(frozen=True)
class Plot:
    """A plot on the page."""

    part: str
    title: str
    path: str
    """The path from the repository's root."""


def draw(results: Results, root: Path, machine: str) -> list[Plot]:
    """Draw the plots of a machine for which there are results. Plots of earlier runs are removed."""
    place = f"{RESULTS}/plots/{machine}"
    folder = root / place
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    plots: list[Plot] = []
    with mpl.rc_context(_STYLE):
        for part in ("write", "read"):
            for codec in ("none", "lz4", "zstd"):
                figure = _grid(results, part, codec)
                if figure is not None:
                    title = f"{'Writing' if part == 'write' else 'Reading'} records of 100 bytes, codec {codec}"
                    plots.append(_save(figure, root, Plot(part, title, f"{place}/{part}-{codec}.svg")))
        for curve in dict.fromkeys(line.case.get("curve") for line in results.select("growth")):
            if curve in _X:
                title = f"Time and memory against {_X[curve]}"
                figure = _growth(results.select("growth", curve=curve), str(curve))
                plots.append(
                    _save(figure, root, Plot("growth", title, f"{place}/growth-{str(curve).replace('_', '-')}.svg"))
                )
    return plots


def _save(figure: Figure, root: Path, plot: Plot) -> Plot:
    FigureCanvasSVG(figure)
    figure.savefig(root / plot.path, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    # Remove blanks at the ends of lines.
    text = (root / plot.path).read_text()
    (root / plot.path).write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    return plot


def _grid(results: Results, part: str, codec: str) -> Figure | None:
    """Bars of speed for each cell of the grid."""
    lines = [
        line
        for line in results.select(part, codec=codec, data="text")
        if line.language != "python" and line.case.get("record_bytes", 100) == 100
    ]
    if not lines:
        return None
    cells = sorted({_cell(line) for line in lines})
    names = sorted(
        {line.name for line in lines if line.subject not in ("memcpy",)}, key=lambda name: (name[1] != "faro", name)
    )
    figure = Figure(figsize=(max(7.0, 0.9 * len(cells) + 2), 4.2), layout="constrained")
    axes: Any = figure.subplots()
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        found = {_cell(line): speed(line) for line in lines if line.name == name}
        places = [index + (number + 0.5) * width - 0.4 for index, cell in enumerate(cells) if cell in found]
        values = [found[cell] for cell in cells if cell in found]
        _bars(axes, places, values, width, " ".join(name))
    axes.set_xticks(range(len(cells)), ["\n".join(map(str, cell)) for cell in cells])
    axes.set_xlabel("partitions, sort buffer in MiB" + (", order" if part == "read" else ""))
    axes.set_ylabel("GB/s of plain data")
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _cell(line: Line) -> tuple[Any, ...]:
    case = line.case
    cell = (case.get("partitions", 0), case.get("buffer_mib", 0))
    return (*cell, case["order"]) if "order" in case else cell


def _bars(axes: Any, places: Sequence[float], values: Sequence[Spread], width: float, label: str) -> None:
    heights = [value.median / 1e9 for value in values]
    below = [(value.median - value.least) / 1e9 for value in values]
    above = [(value.most - value.median) / 1e9 for value in values]
    axes.bar(
        places,
        heights,
        width * 0.92,
        yerr=[below, above],
        error_kw={"linewidth": 0.8, "ecolor": "#333333"},
        label=label,
    )


def _growth(lines: list[Line], curve: str) -> Figure:
    """Time and memory against the growing quantity. A linear curve would be a straight line."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    time, memory = figure.subplots(1, 2)
    others = [
        key
        for key in dict.fromkeys(key for line in lines for key in line.case)
        if key not in ("curve", curve, "plain_bytes")
    ]
    varied = [key for key in others if len({line.case.get(key) for line in lines}) > 1]
    series: dict[str, list[Line]] = {}
    for line in lines:
        label = " ".join([*line.name, *(f"{key} {line.case.get(key)}" for key in varied)])
        series.setdefault(label, []).append(line)
    for label, found in series.items():
        found.sort(key=lambda line: float(line.case[curve]))
        xs = [float(line.case[curve]) for line in found]
        ys = [Spread.of(line.seconds) for line in found]
        errors = [[y.median - y.least for y in ys], [y.most - y.median for y in ys]]
        time.errorbar(xs, [y.median for y in ys], yerr=errors, marker="o", markersize=3, linewidth=1.2, label=label)
        peaks = [
            (x, line.figures["peak_bytes"] / 2**20)
            for x, line in zip(xs, found, strict=True)
            if "peak_bytes" in line.figures
        ]
        if peaks:
            memory.plot(*zip(*peaks, strict=True), marker="o", markersize=3, linewidth=1.2, label=label)
    values = [float(line.case[curve]) for line in lines]
    for axes, name in ((time, "seconds"), (memory, "peak memory, MiB")):
        axes.set_xlabel(_X[curve])
        axes.set_ylabel(name)
        axes.set_ylim(bottom=0)
        if max(values) > 100 * max(min(values), 1):
            axes.set_xscale("log")
    time.legend(fontsize=8)
    return figure
