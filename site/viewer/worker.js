// Runs the command `faro report` on files of the browser. It reads what it needs of them, so they may be larger than
// the memory.

import { ConsoleStdout, Directory, Fd, File, Inode, OpenDirectory, OpenFile, PreopenDirectory, WASI, wasi } from "./wasi/index.js";

/** How many bytes are asked for at once: a request takes milliseconds, and block headers are a few bytes. */
const WINDOW = 4 * 1024 * 1024;
const ALIGNMENT = 64 * 1024;
/** What was read last of a few files, by file. */
const windows = new Map();
const WINDOWS = 4;
/** How many bytes are read between two messages of progress. */
const TELL = 64 * 1024 * 1024;
let readBytes = 0;
let told = 0;

function count(bytes) {
  readBytes += bytes;
  if (readBytes - told >= TELL) {
    told = readBytes;
    postMessage({ read: readBytes });
  }
}

/** A file of the browser, only to be read. */
class BlobFile extends Inode {
  constructor(blob) {
    super();
    this.blob = blob;
  }

  stat() {
    return new wasi.Filestat(this.ino, wasi.FILETYPE_REGULAR_FILE, BigInt(this.blob.size));
  }

  path_open(oflags, rights) {
    const writes = BigInt(wasi.RIGHTS_FD_WRITE);
    if (oflags & wasi.OFLAGS_TRUNC || (BigInt(rights) & writes) === writes) {
      return { ret: wasi.ERRNO_ROFS, fd_obj: null };
    }
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenBlob(this) };
  }

  read(from, length) {
    const end = Math.max(from, Math.min(from + length, this.blob.size));
    try {
      const window = this.window(from, end);
      return { ret: wasi.ERRNO_SUCCESS, data: window.bytes.subarray(from - window.from, end - window.from) };
    } catch {
      // The file has changed since it was chosen, or is gone.
      return { ret: wasi.ERRNO_IO, data: new Uint8Array() };
    }
  }

  /** A window with these bytes. The oldest one is forgotten. */
  window(from, end) {
    const known = windows.get(this);
    if (known && from >= known.from && end <= known.from + known.bytes.length) {
      return known;
    }
    const start = from - (from % ALIGNMENT);
    const part = this.blob.slice(start, Math.max(end, start + WINDOW));
    const window = { from: start, bytes: new Uint8Array(new FileReaderSync().readAsArrayBuffer(part)) };
    count(window.bytes.length);
    windows.delete(this);
    windows.set(this, window);
    if (windows.size > WINDOWS) {
      windows.delete(windows.keys().next().value);
    }
    return window;
  }
}

class OpenBlob extends Fd {
  constructor(file) {
    super();
    this.file = file;
    this.position = 0n;
  }

  fd_fdstat_get() {
    return { ret: wasi.ERRNO_SUCCESS, fdstat: new wasi.Fdstat(wasi.FILETYPE_REGULAR_FILE, 0) };
  }

  fd_filestat_get() {
    return { ret: wasi.ERRNO_SUCCESS, filestat: this.file.stat() };
  }

  fd_pread(length, offset) {
    return this.file.read(Number(offset), length);
  }

  fd_read(length) {
    const found = this.fd_pread(length, this.position);
    this.position += BigInt(found.data.length);
    return found;
  }

  fd_seek(offset, whence) {
    const bases = { [wasi.WHENCE_SET]: 0n, [wasi.WHENCE_CUR]: this.position, [wasi.WHENCE_END]: BigInt(this.file.blob.size) };
    const wanted = (bases[whence] ?? -1n) + offset;
    if (wanted < 0n) {
      return { ret: wasi.ERRNO_INVAL, offset: 0n };
    }
    this.position = wanted;
    return { ret: wasi.ERRNO_SUCCESS, offset: wanted };
  }

  fd_tell() {
    return { ret: wasi.ERRNO_SUCCESS, offset: this.position };
  }
}

/** A folder that is listed in one pass: the one of the library makes a list for each entry. */
class Folder extends Directory {
  path_open() {
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenFolder(this) };
  }
}

class OpenFolder extends OpenDirectory {
  fd_readdir_single(cookie) {
    if (cookie < 2n) {
      return super.fd_readdir_single(cookie);
    }
    this.entries ??= [...this.dir.contents];
    const found = this.entries[Number(cookie - 2n)];
    const entry = found && new wasi.Dirent(cookie + 1n, found[1].ino, found[0], found[1].stat().filetype);
    return { ret: wasi.ERRNO_SUCCESS, dirent: entry ?? null };
  }
}

/** The files as a tree of folders. */
function tree(files) {
  const root = new Map();
  for (const [path, blob] of files) {
    const parts = path.split("/");
    const name = parts.pop();
    let folder = root;
    for (const part of parts) {
      if (!folder.has(part)) {
        folder.set(part, new Map());
      }
      folder = folder.get(part);
      if (!(folder instanceof Map)) {
        throw new Error(`there is a file and a folder ${part}`);
      }
    }
    if (folder.has(name)) {
      throw new Error(`two files have the name ${path}: choose them one after another`);
    }
    folder.set(name, blob);
  }
  const inodes = (folder) => new Map([...folder].map(([name, entry]) =>
    [name, entry instanceof Map ? new Folder(inodes(entry)) : new BlobFile(entry)]));
  return inodes(root);
}

/** The folder in which the command runs. It has no links. */
class Root extends PreopenDirectory {
  constructor(contents) {
    super(".", []);
    this.dir = new Folder(contents);
  }

  path_readlink(path) {
    const { ret } = this.path_filestat_get(0, path);
    return { ret: ret === wasi.ERRNO_SUCCESS ? wasi.ERRNO_INVAL : ret, data: null };
  }
}

/** Collects what is written to a stream. It differs from a terminal, so there are no colours. */
class Collected extends ConsoleStdout {
  constructor() {
    const parts = [];
    super((bytes) => parts.push(bytes.slice()));
    this.parts = parts;
  }

  fd_fdstat_get() {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_REGULAR_FILE, 0);
    fdstat.fs_rights_base = BigInt(wasi.RIGHTS_FD_WRITE);
    return { ret: wasi.ERRNO_SUCCESS, fdstat };
  }

  async text() {
    return new Blob(this.parts).text();
  }
}

async function run({ files, names, level, records, spec }) {
  const [out, errors] = [new Collected(), new Collected()];
  const options = ["--json", "--level", level, "--records", String(records), ...(spec ? ["--spec", spec] : [])];
  const system = new WASI(["faro", "report", ...options, "--", ...names], [],
    [new OpenFile(new File([])), out, errors, new Root(tree(files))], { debug: false });
  // The library counts UTF-16 units (0.4.2), and writes UTF-8.
  system.wasiImport.args_sizes_get = (count, bytes) => {
    const view = new DataView(system.inst.exports.memory.buffer);
    const encoder = new TextEncoder();
    view.setUint32(count, system.args.length, true);
    view.setUint32(bytes, system.args.reduce((sum, text) => sum + encoder.encode(text).length + 1, 0), true);
    return wasi.ERRNO_SUCCESS;
  };
  const program = await fetch(new URL("faro.wasm", import.meta.url));
  if (!program.ok) {
    throw new Error(`faro.wasm: ${program.status} ${program.statusText}`);
  }
  // Not while it loads: that would need a server that knows its type.
  const { instance } = await WebAssembly.instantiate(await program.arrayBuffer(), { wasi_snapshot_preview1: system.wasiImport });
  let code;
  try {
    code = system.start(instance);
  } catch (error) {
    // A panic, or more memory than there is.
    postMessage({ failure: `The command ended early: ${error.message ?? error}\n${await errors.text()}` });
    return;
  }
  if (code === 0 || code === 4) {
    const json = await out.text();
    if (json !== "") {
      postMessage({ report: JSON.parse(json) });
      return;
    }
  }
  postMessage({ failure: (await errors.text()).replace(/^faro: /, "") });
}

onmessage = ({ data }) => run(data).catch((error) => postMessage({ failure: `The files cannot be read: ${error.message}` }));
