"use strict";
const only = document.getElementById("only-failures");
const find = document.getElementById("find");
const rows = [...document.querySelectorAll("tr[data-wrong]")];
function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = (only.checked && row.dataset.wrong === "0") || !words.every((word) => text.includes(word));
    if (!row.hidden) shown += 1;
    const details = row.querySelector("details");
    if (details) details.open = only.checked;
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = ![...section.querySelectorAll("tr[data-wrong]")].some((row) => !row.hidden);
  }
  document.getElementById("shown").textContent = `${shown} of ${rows.length} cases`;
}
only.addEventListener("change", show);
find.addEventListener("input", show);
show();
