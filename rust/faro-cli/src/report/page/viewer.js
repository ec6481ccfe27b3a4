"use strict";
// Shows a report. All text of a file goes through textContent, so none of it can become markup.

const main = document.getElementById("main");
/** The rows of a table that are shown at a time. */
const PAGE = 50;

/** Makes an element; children are elements or text. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    element.setAttribute(name, value);
  }
  for (const child of children) {
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** A number of bytes, with a unit. */
function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${bytes.toLocaleString("en")} bytes` : `${value.toPrecision(3)} ${units[unit]}`;
}

function section(title, ...children) {
  return make("section", { "aria-label": title }, make("h2", {}, title), ...children);
}

function note(text) {
  return make("p", { class: "note" }, text);
}

/** A cell: a number is on the right, `null` is empty. */
function cell(tag, value, kind = "text") {
  const attributes = { class: typeof value === "number" ? "number" : kind };
  if (tag === "th") {
    attributes.scope = "col";
  }
  const text = value === null ? "" : typeof value === "number" ? value.toLocaleString("en") : value;
  return make(tag, attributes, text);
}

/** A table with pages, the one with the row `first` at the beginning; `kind` is the class of a column's text. */
function table(titles, rows, caption, first = 0, kind = () => "text") {
  const body = make("tbody");
  const shown = make("output", {});
  let from = first - (first % PAGE);
  const head = make("tr", {}, ...titles.map((title, at) => {
    const th = cell("th", title);
    if (rows.length > 0 && typeof rows[0][at] === "number") {
      th.className = "number";
    }
    return th;
  }));
  function show() {
    body.replaceChildren(...rows.slice(from, from + PAGE).map((row) => make("tr", {}, ...row.map((value, at) => cell("td", value, kind(at))))));
    shown.textContent = `rows ${from + 1} to ${Math.min(from + PAGE, rows.length)} of ${rows.length}`;
  }
  const whole = make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, head), body);
  const parts = [make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, whole)];
  if (rows.length > PAGE) {
    const turn = (text, by) => {
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => {
        from = Math.max(0, Math.min(from + by, Math.floor((rows.length - 1) / PAGE) * PAGE));
        show();
      });
      return button;
    };
    parts.push(shown, turn("Previous", -PAGE), " ", turn("Next", PAGE));
  }
  show();
  return make("div", {}, ...parts);
}

function facts(subject) {
  const row = ([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "text" }, value));
  return make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...subject.facts.map(row))));
}

function fault(subject) {
  const found = subject.fault;
  if (!found) {
    return subject.checked ? make("p", { class: "good" }, subject.checked) : note("not checked");
  }
  const where = found.clause ? [" (", found.spec ? make("a", { href: found.spec }, found.clause) : found.clause, ")"] : [];
  return make("div", { class: "fault", role: "alert" },
    make("strong", { class: "bad" }, found.code), ...where, make("br"), found.message);
}

/** Bars of sizes, each with its label and its size as text. */
function bars(entries) {
  const most = Math.max(1, ...entries.map((entry) => entry[1]));
  const parts = entries.flatMap(([label, bytes]) => {
    const bar = make("div", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * bytes) / most}%`;
    return [make("span", {}, label), bar, make("span", {}, size(bytes))];
  });
  return make("div", { class: "bars" }, ...parts);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).split(",").map(Number);
}

/** Draws the heat map that is shown. One listener for all of them keeps none in memory. */
let redraw = () => {};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());

/** The heat map: a picture for eyes and the pointer, arrow keys for the keyboard, and words for both. */
function heat(map) {
  const [rows, columns] = [map.rows.length, map.columns.length];
  if (rows === 0 || columns === 0) {
    return note(`There are no ${rows === 0 ? map.row_word : map.column_word}s.`);
  }
  const wide = Math.max(1, Math.floor(960 / columns));
  const high = Math.max(2, Math.min(24, Math.floor(480 / rows)));
  const canvas = make("canvas", { tabindex: "0", role: "application", width: columns * wide, height: rows * high,
    "aria-label": `Heat map of ${rows} ${map.row_word}s and ${columns} ${map.column_word}s. Arrow keys move.` });
  const words = make("output", { "aria-live": "polite" });
  let at = [0, 0];
  function draw() {
    const context = canvas.getContext("2d");
    const [cold, warm] = [colour("--cold"), colour("--warm")];
    map.cells.forEach((line, y) => line.forEach((bytes, x) => {
      const share = map.most > 0 ? bytes / map.most : 0;
      const mix = cold.map((part, which) => Math.round(part + (warm[which] - part) * share));
      context.fillStyle = `rgb(${mix.join(",")})`;
      context.fillRect(x * wide, y * high, wide, high);
    }));
    context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink");
    context.strokeRect(at[1] * wide + 0.5, at[0] * high + 0.5, Math.max(1, wide - 1), Math.max(1, high - 1));
  }
  function go(y, x) {
    at = [Math.max(0, Math.min(rows - 1, y)), Math.max(0, Math.min(columns - 1, x))];
    words.textContent = `${map.row_word} ${map.rows[at[0]]}, ${map.column_word} ${map.columns[at[1]]}: ${size(map.cells[at[0]][at[1]])}`;
    draw();
  }
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    go(Math.floor(((event.clientY - box.top) / box.height) * rows), Math.floor(((event.clientX - box.left) / box.width) * columns));
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      go(at[0] + move[0], at[1] + move[1]);
    }
  });
  redraw = draw;
  queueMicrotask(() => go(0, 0));
  const scale = make("div", { class: "scale" }, "0", make("span", { class: "ramp", "aria-hidden": "true" }), `${size(map.most)}, linear`);
  return make("div", {}, canvas, words, scale, ...(map.grouped ? [note(map.grouped)] : []));
}

function show(subject) {
  const parts = [make("h2", { id: "subject" }, subject.name), fault(subject), facts(subject)];
  if (subject.heat) {
    parts.push(section(`Stored bytes by ${subject.heat.row_word} and ${subject.heat.column_word}`, heat(subject.heat)));
  }
  if (subject.largest?.length) {
    parts.push(section("The largest partitions", bars(subject.largest)));
  }
  if (subject.sizes?.length) {
    parts.push(section("What the bytes are", bars(subject.sizes)));
  }
  if (subject.properties?.length) {
    parts.push(section("Properties", table(["key", "value"], subject.properties, "Properties")));
  }
  for (const preview of subject.records ?? []) {
    parts.push(section(`Records of partition ${preview.partition}`, note(preview.note), table(preview.columns, preview.rows, `Records of partition ${preview.partition}`)));
  }
  if (subject.outputs) {
    parts.push(section("Outputs", table(subject.outputs.columns, subject.outputs.rows, "Outputs")));
  }
  if (subject.blocks) {
    parts.push(section("Blocks", note(subject.blocks.note), table(subject.blocks.columns, subject.blocks.rows, "Blocks")));
  }
  if (subject.bytes?.length) {
    // The page of the table that has the fault is shown first.
    const fault = Math.max(0, subject.bytes.findIndex((entry) => entry.meaning.startsWith("HERE")));
    const rows = subject.bytes.map((entry) => [entry.offset, entry.hex, entry.meaning]);
    parts.push(section("Bytes", note(subject.bytes_note), table(["offset", "bytes", "meaning"], rows, "Bytes", fault, (column) => (column === 1 ? "hex" : "text"))));
  }
  main.replaceChildren(...parts);
}

/** Shows a report in place of the one before. */
function showReport(report) {
  document.getElementById("made").textContent = report.made;
  const buttons = report.subjects.map((subject, at) => {
    const button = make("button", { type: "button" }, subject.fault ? `${subject.name} (damaged)` : subject.name);
    button.addEventListener("click", () => {
      buttons.forEach((other, which) => other.setAttribute("aria-current", String(which === at)));
      show(subject);
      main.focus();
    });
    return button;
  });
  document.getElementById("subjects").replaceChildren(...(buttons.length > 1 ? buttons : []));
  buttons[0]?.setAttribute("aria-current", "true");
  if (report.subjects.length > 0) {
    show(report.subjects[0]);
  } else {
    main.replaceChildren();
  }
}

// The page of the site, where files are dropped, has none yet.
const embedded = document.getElementById("report");
if (embedded) {
  showReport(JSON.parse(embedded.textContent));
}
