/** Entries of an extracted directory, in comparable form. */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { Buffer } from "node:buffer";

/** Kind of an entry, and the compared facts as text. */
export interface Entry {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly facts: Readonly<Record<string, string>>;
}

/** Entries by path; bytes of names that are not UTF-8 are shown as `\xNN`. */
export type Entries = ReadonlyMap<string, Entry>;

/** Returns the entries of a directory, at any depth. */
export function entriesOf(root: string): Entries {
  const entries = new Map<string, Entry>();
  const walk = (directory: Buffer, above: string) => {
    for (const name of fs.readdirSync(directory, { encoding: "buffer" })) {
      const path = Buffer.concat([directory, Buffer.from("/"), name]);
      const shown = above + shownName(name);
      const entry = entryOf(path);
      entries.set(shown, entry);
      if (entry.kind === "directory") walk(path, `${shown}/`);
    }
  };
  walk(Buffer.from(root), "");
  return entries;
}

function entryOf(path: Buffer): Entry {
  const stat = fs.lstatSync(path);
  // Programs round times, and some set a directory's time before writing its entries.
  const seconds = String(Math.floor(stat.mtimeMs / 1000));
  if (stat.isDirectory()) return { kind: "directory", facts: {} };
  if (stat.isSymbolicLink()) {
    const target = fs.readlinkSync(path, { encoding: "buffer" });
    return { kind: "link", facts: { target: shownName(target) } };
  }
  if (!stat.isFile()) return { kind: "other", facts: {} };
  return {
    kind: "file",
    facts: { size: String(stat.size), mtime: seconds, sha256: hashOf(path) },
  };
}

function hashOf(path: Buffer): string {
  const hash = createHash("sha256");
  const piece = new Uint8Array(1 << 20);
  const fd = fs.openSync(path, "r");
  try {
    for (let got; (got = fs.readSync(fd, piece)) > 0;) {
      hash.update(piece.subarray(0, got));
    }
  } finally {
    fs.closeSync(fd);
  }
  return hash.digest("hex");
}

function shownName(name: Buffer): string {
  const text = name.toString("utf8");
  return Buffer.from(text).equals(name)
    ? text
    : name.toString("latin1").replaceAll(
      /[^ -~]/g,
      (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`,
    );
}

/**
 * Returns the differences between the entries of recordfs and of a peer, one a line.
 *
 * @param compared Facts that the peer preserves; by default all.
 */
export function differences(
  own: Entries,
  theirs: Entries,
  ignored: readonly string[] = [],
): string[] {
  const lines: string[] = [];
  for (const path of [...new Set([...own.keys(), ...theirs.keys()])].sort()) {
    const [a, b] = [own.get(path), theirs.get(path)];
    if (a === undefined) {
      lines.push(`${path}: only the peer has this ${b!.kind}`);
    } else if (b === undefined) {
      lines.push(`${path}: the peer has no such ${a.kind}`);
    } else if (a.kind !== b.kind) {
      lines.push(`${path}: ${a.kind}, and ${b.kind}`);
    } else {
      for (const [name, value] of Object.entries(a.facts)) {
        const other = b.facts[name];
        if (ignored.includes(name) || value === other) continue;
        lines.push(`${path}: ${name} ${value}, and ${other}`);
      }
    }
  }
  return lines;
}
