"""The Maven repository: its content, and a fresh project that has nothing but a settings file and an empty ~/.m2."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

from installed.examples import PARTITION_7, code, must_print
from release.common import Failed, run
from release.maven import LIBRARIES, PASSES

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>fresh</groupId>
  <artifactId>fresh</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>dev.faro</groupId>
        <artifactId>faro-bom</artifactId>
        <version>{version}</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>dev.faro</groupId>
      <artifactId>faro-format</artifactId>
    </dependency>
    <dependency>
      <groupId>dev.faro</groupId>
      <artifactId>faro-hadoop</artifactId>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.16.0</version>
      </plugin>
      <plugin>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.8.1</version>
      </plugin>
    </plugins>
  </build>
</project>
"""
SETTINGS = """\
<settings>
  <localRepository>{local}</localRepository>
  <profiles>
    <profile>
      <id>faro</id>
      <repositories>
        <repository>
          <id>faro</id>
          <url>{repository}</url>
        </repository>
      </repositories>
    </profile>
  </profiles>
  <activeProfiles>
    <activeProfile>faro</activeProfile>
  </activeProfiles>
</settings>
"""
NAMESPACE = {"m": "http://maven.apache.org/POM/4.0.0"}
CENTRAL = [
    "name",
    "description",
    "url",
    "licenses/m:license",
    "developers/m:developer",
    "scm/m:url",
    "scm/m:connection",
]


def faults_of(folder: Path, parent: xml.Element) -> list[str]:
    """What Maven Central would refuse in one artifact, except for signatures, which a person makes."""
    name = f"{folder.parent.name}-{folder.name}"
    pom = xml.parse(folder / f"{name}.pom").getroot()
    found = [
        f"{name}.pom: no {field.replace('m:', '')}"
        for field in CENTRAL
        # What a module does not say, its parent says. A name and a description are its own.
        if pom.find(f"m:{field}", NAMESPACE) is None
        and (
            field in CENTRAL[:2]
            or pom.find("m:parent", NAMESPACE) is None
            or parent.find(f"m:{field}", NAMESPACE) is None
        )
    ]
    files = {file.name for file in folder.iterdir()}
    if pom.findtext("m:packaging", "jar", NAMESPACE) == "jar":
        wanted = [f"{name}{suffix}" for suffix in (".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json")]
        found += [f"no {file}" for file in wanted if file not in files]
        found += [fault for file in wanted[:3] if file in files for fault in faults_of_jar(folder / file)]
    plain = [file for file in files if not file.endswith((".md5", ".sha1"))]
    found += [f"no {file}{sum_}" for file in plain for sum_ in (".md5", ".sha1") if file + sum_ not in files]
    found += [
        f"{file} is of a build, not of a release" for file in files if "SNAPSHOT" in file or "SNAPSHOT" in pom_text(pom)
    ]
    return found


def pom_text(pom: xml.Element) -> str:
    """All text of a POM."""
    return " ".join(pom.itertext())


def faults_of_jar(jar: Path) -> list[str]:
    """What a jar lacks."""
    with zipfile.ZipFile(jar) as file:
        names = file.namelist()
    if jar.name.endswith("-sources.jar"):
        return [] if any(name.endswith(".java") for name in names) else [f"{jar.name}: no sources"]
    if jar.name.endswith("-javadoc.jar"):
        return [] if "index.html" in names else [f"{jar.name}: no pages"]
    return [] if "META-INF/LICENSE" in names else [f"{jar.name}: no licence"]


def check(out: Path, fresh: Path, version: str, example: str, outputs: list[Path]) -> None:
    """Check the repository, and read outputs of other languages with the README's example.

    Raises:
        Failed: an artifact is incomplete, or the example does not print what was written.
    """
    group = out / "maven/dev/faro"
    artifacts = [*LIBRARIES, *(line.artifact for lines in PASSES for line in lines)]
    parent = xml.parse(group / "faro-parent" / version / f"faro-parent-{version}.pom").getroot()
    faults = [fault for artifact in artifacts for fault in faults_of(group / artifact / version, parent)]
    bom = (group / "faro-bom" / version / f"faro-bom-{version}.pom").read_text()
    named = set(re.findall(r"<artifactId>(faro-[^<]*)</artifactId>", bom))
    faults += [f"faro-bom lacks {artifact}" for artifact in sorted(set(artifacts) - {"faro-parent"} - named)]
    faults += [f"faro-bom names {artifact}, which is not there" for artifact in sorted(named - set(artifacts))]
    if faults:
        raise Failed("\n".join(faults))
    project = fresh / "java"
    (project / "src/main/java").mkdir(parents=True)
    (project / "pom.xml").write_text(POM.format(version=version))
    local = {"local": fresh / "m2", "repository": (out / "maven").as_uri()}
    (project / "settings.xml").write_text(SETTINGS.format(**local))
    (project / "src/main/java/Quickstart.java").write_text(code(example, "java")[0])
    maven = ["mvn", "--batch-mode", "--quiet", "--no-transfer-progress", "--settings", "settings.xml"]
    run([*maven, "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath"], project)
    class_path = (project / "classpath").read_text().strip()
    if foreign := [jar for jar in class_path.split(":") if not Path(jar).is_relative_to(fresh)]:
        raise Failed(f"the class path has {', '.join(foreign)}")
    for folder in outputs:
        printed = run(["java", "-cp", f"{project / 'target/classes'}:{class_path}", "Quickstart"], folder)
        must_print(printed, PARTITION_7, f"the example in Java, on what {folder.name} wrote")
    # The same jars as modules.
    described = run(["java", "--module-path", class_path, "--describe-module", "dev.faro"], project)
    must_print(described, ["exports dev.faro.reader"], "the module dev.faro")
