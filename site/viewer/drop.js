"use strict";
// Hands dropped or chosen files to the command, which runs in a worker, and shows its report.

const form = document.getElementById("choose");
const state = document.getElementById("state");
const stopButton = document.getElementById("stop");
/** More outputs are shown as one folder. */
const SINGLY = 20;
let worker = null;

function say(text, failed = false) {
  state.className = failed ? "failed" : "";
  state.textContent = text;
}

function stop() {
  worker?.terminate();
  worker = null;
  stopButton.hidden = true;
}

/** The name of the output that a file belongs to. */
function outputName(path) {
  return path.replace(/\.(faro|data|index)$/, "");
}

/** What the command is asked for: one folder, or each output. `files` are pairs of a path and a file. */
function subjects(files) {
  const folders = [...new Set(files.map(([path]) => path.includes("/") ? path.slice(0, path.indexOf("/")) : ""))];
  const names = [...new Set(files.map(([path]) => outputName(path)))];
  if (folders.length === 1 && folders[0] !== "") {
    return folders;
  }
  return folders.every((folder) => folder === "") && names.length <= SINGLY ? names : ["."];
}

/** Reads files. What was read before is gone. */
function read(files) {
  stop();
  showReport({ made: "", subjects: [] });
  if (files.length === 0) {
    say("There are no files in it.", true);
    return;
  }
  const all = files.reduce((sum, [, file]) => sum + file.size, 0);
  const many = files.length === 1 ? "1 file" : `${files.length.toLocaleString("en")} files`;
  say(`Reading ${many}, ${size(all)} …`);
  stopButton.hidden = false;
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.read !== undefined) {
      say(`Reading ${many}, ${size(all)}: read ${size(data.read)} …`);
      return;
    }
    stop();
    if (data.report) {
      showReport(data.report);
      say(data.report.subjects.some((subject) => subject.fault) ? `Read ${many}: damaged.` : `Read ${many}.`);
    } else {
      say(data.failure, true);
    }
  };
  worker.onerror = (event) => {
    stop();
    say(`The viewer failed: ${event.message ?? "its worker did not start"}`, true);
  };
  const spec = new URL("../../spec", location.href);
  worker.postMessage({
    files,
    names: subjects(files),
    level: document.getElementById("level").value,
    records: Math.max(0, document.getElementById("records").valueAsNumber || 0),
    spec: spec.protocol.startsWith("http") ? spec.href : null,
  });
}

/** All files below an entry of a drop, as pairs of a path and a file. */
async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[entry.fullPath.replace(/^\//, ""), file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    // A call gives a part of a large folder.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) {
      return found;
    }
    for (const child of part) {
      found.push(...await filesOf(child));
    }
  }
}

for (const id of ["files", "folder"]) {
  const input = document.getElementById(id);
  input.addEventListener("change", () => {
    read([...input.files].map((file) => [file.webkitRelativePath || file.name, file]));
    // The same files can be chosen again, after they have changed.
    input.value = "";
  });
}
stopButton.addEventListener("click", () => {
  stop();
  say("Stopped.");
});
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  form.classList.add("over");
});
document.addEventListener("dragleave", () => form.classList.remove("over"));
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  form.classList.remove("over");
  // Items are there only until the first wait. One that a program has made has no entry.
  const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  const dropped = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const found = dropped.map((one) => one instanceof File ? [[one.name, one]] : filesOf(one));
  try {
    read((await Promise.all(found)).flat());
  } catch (error) {
    say(`The browser cannot read what was dropped: ${error.message}`, true);
  }
});
