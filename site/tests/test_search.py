import json
from pathlib import Path

from faro_site import search
from faro_site.sources import Pages

TEXT = '# Hybrid\n\n<a id="HYB-6"></a>**HYB-6.** Memory of `N < 2` *bytes* ([HYB-1](#HYB-1)).\n\nMore.\n'


def test_a_clause_has_an_entry_that_leads_to_it(tmp_path: Path) -> None:
    project = Pages({"spec/hybrid.md": TEXT}, {"spec/hybrid.md": "Hybrid stores"}, {"HYB-6": "spec/hybrid.md"})
    made = search.entries(project)
    assert made[0]["location"] == "spec/hybrid/#HYB-6"
    assert made[0]["text"] == "<p>Memory of N &lt; 2 bytes (HYB-1).</p>"
    index = tmp_path / "search.json"
    index.write_text(json.dumps({"config": {}, "items": [{"location": "docs/cli/"}, {"location": "docs/map/#x"}]}))
    search.improve(index, made, ("docs/map/",))
    found = [item["location"] for item in json.loads(index.read_text())["items"]]
    assert found == ["spec/hybrid/#HYB-6", "docs/cli/"]
