"""Build the site: collect its pages in a folder of the generator, run it, and add the API documentation.

python -m faro_site.build out/site                     # without API documentation
python -m faro_site.build out/site --api out/site-api  # with the folders rust, java and python of out/site-api
python -m faro_site.build out/site --viewer out/site-viewer  # with the viewer that site/viewer/build has made
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from faro_site import conformance, lists, search, settings, sources
from faro_site.links import Linker
from faro_site.navigation import navigation
from faro_site.settings import ROOT, SITE, Settings
from faro_site.sources import Pages

API = ("rust", "java", "python")
API_PAGE = "api/README.md"
MATRIX_PAGE = "conformance/matrix.md"
VIEWER_PAGE = "viewer/README.md"
API_START = {"rust": "rust/faro/index.html", "java": "java/index.html", "python": "python/index.html"}
API_TEXT = {
    "rust": "the crate `faro-format`, with all features; made by rustdoc",
    "java": "the module `dev.faro`; made by javadoc",
    "python": "the package `faro_format`; made by pdoc",
}


def stage(work: Path, options: Settings, project: Pages, made: dict[str, str]) -> None:
    """Collect the project's pages and those that were made in a folder, which is made anew, with the configuration.

    Raises ValueError if a link of a page leads to no file, or a page has no place in the navigation.
    """
    shutil.rmtree(work, ignore_errors=True)
    texts = project.texts | made
    titles = project.titles | {path: sources.title(text, path) for path, text in made.items()}
    linker = Linker(ROOT, frozenset(texts), project.clauses, options.repository, set(options.copied))
    for path, text in texts.items():
        target = work / "pages" / sources.staged(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(lists.indented(linker.rewrite(path, text)), encoding="utf-8")
    if linker.faults:
        raise ValueError("\n".join(linker.faults))
    for path in sorted(linker.copied):
        target = work / "pages" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    shutil.copytree(SITE / "assets", work / "pages/assets")
    configuration = options.zensical | {
        "docs_dir": "pages",
        "site_dir": "built",
        "nav": navigation(options, texts, titles),
    }
    # YAML includes JSON.
    (work / "mkdocs.yml").write_text(json.dumps(configuration, indent=1) + "\n", encoding="utf-8")


def api_page(with_api: bool) -> str:
    """The page that leads to the API documentation, or says that it was left out."""
    lines = ["# API documentation", ""]
    if with_api:
        links = (f'<a href="{API_START[name]}">{name.title()}</a>: {API_TEXT[name]}' for name in API)
        lines += [f"- {link}" for link in links]
    else:
        lines += [
            "This copy of the site was built without the API documentation: with `make site SITE_API=no`, or",
            "`make site-sample`. `make site` includes it:",
            "",
        ]
        lines += [f"- {name.title()}: {API_TEXT[name]}" for name in API]
    return "\n".join(
        [*lines, "", "[The three APIs side by side](../docs/api.md) is one page with the calls of all three.", ""]
    )


def viewer_page(with_viewer: bool) -> str:
    """The page that leads to the viewer, or says that it was left out."""
    lines = ["# Look into files, here in the browser", ""]
    if with_viewer:
        lines += [
            '<a href="app/">Open the viewer</a>, and drop files or a folder on it. Files stay on your machine: the',
            "command `faro` reads them in the browser, as WebAssembly.",
        ]
    else:
        lines += [
            "This copy of the site was built without the viewer: with `make site SITE_VIEWER=no`, or",
            "`make site-sample`. `make site` includes it.",
        ]
    return "\n".join([*lines, "", "[Pages for browsers](../docs/viewer.md) says what it shows.", ""])


def matrix_page(summary: Path, project: Pages) -> str:
    """The page of the conformance matrix, from a summary or from a whole report."""
    cases = conformance.manifest(ROOT / "conformance/cases")
    data = json.loads(summary.read_text(encoding="utf-8"))
    shown = summary.resolve().relative_to(ROOT) if summary.resolve().is_relative_to(ROOT) else summary
    origin = f"the summary is committed as `{shown}`"
    if "results" in data:
        data = conformance.summary(data, cases, *conformance.run_of(summary))
        origin = f"the report is `{shown}`, made on this machine"
    chapters: dict[str, tuple[str, str]] = {}
    for path in sources.linked_pages(project.texts["spec/README.md"], "spec/"):
        for clause in [clause for clause, page in project.clauses.items() if page == path]:
            chapters.setdefault(clause.rpartition("-")[0], (project.titles[path], f"../{path}#{clause}"))
    return conformance.page(data, origin, chapters, len(cases))


def generate(work: Path) -> bool:
    """Run Zensical, and say whether it had neither errors nor warnings. It prints them."""
    program = Path(sys.executable).with_name("zensical")
    command = [str(program), "build", "--clean", "--strict", "--config-file", str(work / "mkdocs.yml")]
    return subprocess.run(command, check=False, cwd=work).returncode == 0


def main() -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder of the site; it is replaced")
    parser.add_argument("--api", type=Path, metavar="FOLDER", help="the API documentation: folders rust, java, python")
    parser.add_argument("--viewer", type=Path, metavar="FOLDER", help="the viewer, as site/viewer/build makes it")
    parser.add_argument(
        "--conformance",
        type=Path,
        default=SITE / "conformance.json",
        metavar="FILE",
        help="a summary, or a report of conformance/run (default: site/conformance.json)",
    )
    parser.add_argument(
        "--work", type=Path, default=ROOT / "out/site-work", help="a folder for what the generator reads"
    )
    arguments = parser.parse_args()
    options = settings.load()
    missing = [name for name in API if arguments.api and not (arguments.api / name).is_dir()]
    if missing:
        print(f"{arguments.api} has no documentation of {', '.join(missing)}: see site/api", file=sys.stderr)
        return 1
    if arguments.viewer and not (arguments.viewer / "faro.wasm").is_file():
        print(f"{arguments.viewer} has no faro.wasm: see site/viewer/build", file=sys.stderr)
        return 1
    try:
        project = sources.read(ROOT, options.left_out)
        made = {
            API_PAGE: api_page(arguments.api is not None),
            MATRIX_PAGE: matrix_page(arguments.conformance, project),
            VIEWER_PAGE: viewer_page(arguments.viewer is not None),
        }
        stage(arguments.work, options, project, made)
    except ValueError as fault:
        print(fault, file=sys.stderr)
        return 1
    if not generate(arguments.work):
        return 1
    search.improve(arguments.work / "built/search.json", search.entries(project), options.unsearched)
    shutil.rmtree(arguments.out, ignore_errors=True)
    shutil.copytree(arguments.work / "built", arguments.out)
    for name in API if arguments.api else ():
        shutil.copytree(arguments.api / name, arguments.out / "api" / name)
    if arguments.viewer:
        shutil.copytree(arguments.viewer, arguments.out / "viewer/app")
    return 0


if __name__ == "__main__":
    sys.exit(main())
