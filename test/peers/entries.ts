/** Entries of an extracted directory, in comparable form. */
import { Buffer } from "node:buffer";

/** Kind of an entry, and the compared facts as text. */
export interface Entry {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly facts: Readonly<Record<string, string>>;
}

/** Entries by path; bytes of names that are not UTF-8 are shown as `\xNN`. */
export type Entries = ReadonlyMap<string, Entry>;

/** What `find` prints of an entry: its kind, size, time, target and path, each behind a NUL. */
const FACTS = String.raw`%y\0%s\0%Ts\0%l\0%P\0`;
const KINDS: Readonly<Record<string, Entry["kind"]>> = {
  d: "directory",
  f: "file",
  l: "link",
};

/** The entries of a directory, at any depth. By `find`, because Deno opens no names that are not UTF-8. */
export function entriesOf(root: string): Entries {
  const entries = new Map<string, Entry>();
  const hashes = hashesOf(root);
  const fields = fieldsOf(
    output("find", root, "-mindepth", "1", "-printf", FACTS),
  );
  for (let at = 0; at < fields.length; at += 5) {
    const [type, size, mtime, target, path] = fields
      .slice(at, at + 5) as [string, string, string, string, string];
    const kind = KINDS[type] ?? "other";
    // Programs round times, and some write them before what is in a directory.
    const facts: Record<string, string> = kind === "link"
      ? { target }
      : kind === "file"
      ? { size, mtime, sha256: hashes.get(path)! }
      : {};
    entries.set(path, { kind, facts });
  }
  return entries;
}

/** SHA-256 of all files, by their paths. */
function hashesOf(root: string): Map<string, string> {
  const hashed = output(
    ...["find", root, "-type", "f"] as const,
    ...["-exec", "sha256sum", "-z", "{}", "+"],
  );
  return new Map(
    fieldsOf(hashed).map((line) => {
      const [hash = ""] = line.split(" ", 1);
      return [line.slice(hash.length + 2 + root.length + 1), hash];
    }),
  );
}

function output(program: string, ...args: string[]): Buffer {
  const { code, stdout, stderr } = new Deno.Command(program, { args })
    .outputSync();
  if (code === 0) return Buffer.from(stdout);
  throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

/** Splits bytes at NULs, each of which ends a field. */
function fieldsOf(bytes: Buffer): string[] {
  const fields: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at);
    fields.push(shownName(bytes.subarray(at, end)));
    at = end + 1;
  }
  return fields;
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
