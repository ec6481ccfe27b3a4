"use strict";
// Hands dropped or chosen files to the command, which runs in a worker, and shows its report.

const form = document.getElementById("choose");
const state = document.getElementById("state");
const stopButton = document.getElementById("stop");
/** More outputs are shown as one folder. */
const SINGLY = 20;
let worker = null;
let workerAddress = null;
/** Counts what is read or dropped: a listing that ends late is of no use any more. */
let turn = 0;

function say(text, failed = false) {
  state.className = failed ? "failed" : "";
  state.textContent = text;
}

function stop() {
  turn++;
  worker?.terminate();
  worker = null;
  URL.revokeObjectURL(workerAddress);
  stopButton.hidden = true;
}

/** A worker with the policy of this page: one that is loaded from its own address would have none. */
function start() {
  const code = `import ${JSON.stringify(new URL("worker.js", location.href).href)};`;
  workerAddress = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  return new Worker(workerAddress, { type: "module" });
}

/** What the command is to be asked for so that it reads these files: a pair by its name, another file by its own. */
function outputNames(paths) {
  const all = new Set(paths);
  const stem = (path) => path.replace(/\.(data|index)$/, "");
  const isPair = (path) => all.has(`${stem(path)}.data`) && all.has(`${stem(path)}.index`) && !all.has(`${stem(path)}.faro`);
  return [...new Set(paths.map((path) => stem(path) !== path && isPair(path) ? stem(path) : path))];
}

/** What the command is asked for: one folder, or each output. `files` are pairs of a path and a file. */
function subjects(files) {
  const folders = [...new Set(files.map(([path]) => path.includes("/") ? path.slice(0, path.indexOf("/")) : ""))];
  const names = outputNames(files.map(([path]) => path));
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
  worker = start();
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
    records: Math.min(1000, Math.max(0, Math.trunc(document.getElementById("records").valueAsNumber || 0))),
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
      for (const one of await filesOf(child)) {
        found.push(one);
      }
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
  if (items.length === 0) {
    return;
  }
  stop();
  const mine = turn;
  say("Listing …");
  stopButton.hidden = false;
  const dropped = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const found = dropped.map((one) => one instanceof File ? [[one.name, one]] : filesOf(one));
  try {
    const files = (await Promise.all(found)).flat();
    if (mine === turn) {
      read(files);
    }
  } catch (error) {
    if (mine === turn) {
      stop();
      say(`The browser cannot read what was dropped: ${error.message}`, true);
    }
  }
});
