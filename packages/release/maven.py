"""The Java libraries as a Maven repository: jars with sources, documentation, POM and list of needs."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from release.common import Failed, run
from release.source import Source


@dataclass(frozen=True)
class Line:
    """One line of an engine. Jars for two lines come from the same source, and need names of their own."""

    module: str
    artifact: str
    profile: str
    properties: dict[str, str] = field(hash=False)


LIBRARIES = ["faro-parent", "faro-bom", "faro-format", "faro-hadoop", "faro-spark-merge"]
SPARK_35 = {"spark.version": "3.5.9", "spark.line": "3"}
# What one call of Maven can build: each module has one line in it.
PASSES = [
    [
        Line("faro-flink", "faro-flink-2.3", "flink", {"flink.version": "2.3.0"}),
        Line(
            "faro-spark",
            "faro-spark-4.2_2.13",
            "spark",
            {"spark.version": "4.2.0", "spark.line": "4", "scala.line": "2.13"},
        ),
    ],
    [
        Line("faro-flink", "faro-flink-1.20", "flink", {"flink.version": "1.20.5"}),
        Line("faro-spark", "faro-spark-3.5_2.13", "spark", SPARK_35 | {"scala.line": "2.13"}),
    ],
    [Line("faro-spark", "faro-spark-3.5_2.12", "spark", SPARK_35 | {"scala.line": "2.12"})],
]


def deploy(java: Path, projects: list[str], lines: list[Line], repository: Path) -> None:
    """Build modules and what they need into a folder that is a Maven repository. No jar of them gets into ~/.m2."""
    shutil.rmtree(repository, ignore_errors=True)
    options = ["--batch-mode", "--quiet", "--no-transfer-progress", "-Dstyle.color=never", "-DskipTests", "--also-make"]
    options += ["-Dmaven.install.skip=true", f"-DaltDeploymentRepository=local::{repository.as_uri()}"]
    options.append("--activate-profiles=" + ",".join(sorted({"release", "spark"} | {line.profile for line in lines})))
    options.append("--projects=" + ",".join(f":{name}" for name in [*projects, *(line.artifact for line in lines)]))
    # Profiles are activated by a property of the command only.
    options += [f"-D{name}={value}" for line in lines for name, value in line.properties.items()]
    run(["mvn", *options, "clean", "deploy"], java)


def take(repository: Path, artifact: str, version: str, out: Path) -> None:
    """Copy one artifact. Lists of versions are left out: they have the time of the build, and a registry makes its own."""
    made = repository / "dev/faro" / artifact / version
    if not made.is_dir():
        raise Failed(f"no {artifact} {version} in {repository}")
    shutil.copytree(made, out / "maven/dev/faro" / artifact / version, ignore=shutil.ignore_patterns("maven-metadata*"))
    # A POM alone has nothing to list.
    for needs in made.glob("*-cyclonedx.json") if any(made.glob("*.jar")) else ():
        (out / "sbom").mkdir(exist_ok=True)
        shutil.copy(needs, out / "sbom" / f"{artifact}.cdx.json")


def rename(pom: Path, line: Line) -> str:
    """Give a module the name and the versions of a line, since its POM goes to the registry. Returns the text before."""
    before = text = pom.read_text()
    values = {"artifactId": (line.module, line.artifact)}
    values |= {name: ("[^<]*", value) for name, value in line.properties.items()}
    for name, (old, new) in values.items():
        text, count = re.subn(rf"<{re.escape(name)}>{old}</{re.escape(name)}>", f"<{name}>{new}</{name}>", text)
        if count != 1:
            raise Failed(f"{pom}: expected one <{name}>, found {count}")
    pom.write_text(text)
    return before


def build(source: Source, work: Path, out: Path) -> None:
    """Make `maven/`, and `sbom/ARTIFACT.cdx.json` for each jar."""
    shutil.rmtree(out / "maven", ignore_errors=True)
    java, repository = source.folder / "java", work / "repository"
    for number, lines in enumerate(PASSES):
        libraries = [] if number else LIBRARIES
        before = {line: rename(java / line.module / "pom.xml", line) for line in lines}
        try:
            deploy(java, libraries, lines, repository)
        finally:
            for line, text in before.items():
                (java / line.module / "pom.xml").write_text(text)
        for artifact in [*libraries, *(line.artifact for line in lines)]:
            take(repository, artifact, source.version, out)
