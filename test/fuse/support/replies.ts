/** Fields of `struct fuse_attr` that are not 0 for every node. */
export interface Attr {
  readonly ino: number;
  readonly size: number;
  readonly blocks: number;
  readonly mtime: number;
  readonly mtimeNanoseconds: number;
  readonly mode: number;
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  readonly blockSize: number;
}

/** `struct fuse_entry_out`. */
export interface Entry {
  readonly node: number;
  readonly entrySeconds: number;
  readonly attrSeconds: number;
  readonly attr: Attr;
}

/** `struct fuse_dirent`, after its `fuse_entry_out` in READDIRPLUS. */
export interface Dirent {
  readonly name: string;
  readonly node: number;
  readonly next: number;
  readonly type: number;
  readonly entry: Entry | undefined;
}

/** Reads a `fuse_attr` at a byte offset, which is 16 in `fuse_attr_out`. */
export function parseAttr(view: DataView, at: number): Attr {
  return {
    ino: u64(view, at),
    size: u64(view, at + 8),
    blocks: u64(view, at + 16),
    mtime: u64(view, at + 32),
    mtimeNanoseconds: view.getUint32(at + 52, true),
    mode: view.getUint32(at + 60, true),
    links: view.getUint32(at + 64, true),
    uid: view.getUint32(at + 68, true),
    gid: view.getUint32(at + 72, true),
    blockSize: view.getUint32(at + 80, true),
  };
}

/** Reads a `fuse_entry_out`. */
export function parseEntry(view: DataView, at = 0): Entry {
  return {
    node: u64(view, at),
    entrySeconds: u64(view, at + 16),
    attrSeconds: u64(view, at + 24),
    attr: parseAttr(view, at + 40),
  };
}

/** Reads the entries of a READDIR reply, or of READDIRPLUS. */
export function parseDirents(view: DataView, plus: boolean): Dirent[] {
  const entries: Dirent[] = [];
  for (let at = 0; at < view.byteLength;) {
    const entry = plus ? parseEntry(view, at) : undefined;
    if (plus) at += 128;
    const length = view.getUint32(at + 16, true);
    const name = new Uint8Array(view.buffer, at + 24, length);
    entries.push({
      name: new TextDecoder().decode(name),
      node: u64(view, at),
      next: u64(view, at + 8),
      type: view.getUint32(at + 20, true),
      entry,
    });
    at += Math.ceil((24 + length) / 8) * 8;
  }
  return entries;
}

function u64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}
