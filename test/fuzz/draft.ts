/** Containers in memory that are being mutated. */
import * as fs from "node:fs";
import { dirname } from "node:path";

/** An entry at a path. */
export type DraftEntry =
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "directory" }
  | { readonly kind: "link"; readonly target: string };

/** A changed range of bytes in a file. */
export interface Touched {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** Errors for names that no file system supports, or that conflict with other entries. */
const UNWRITABLE: ReadonlySet<string> = new Set(
  ["EEXIST", "EINVAL", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOENT", "ENOTDIR"],
);

/** A container that is being mutated: its entries by path, and the list of changes. */
export class Draft {
  readonly entries = new Map<string, DraftEntry>();
  /** Descriptions of the changes. */
  readonly log: string[] = [];
  /** Ranges that changed in place; `undefined` after any other change. */
  touched: Touched[] | undefined = [];

  constructor(files: ReadonlyMap<string, Uint8Array>) {
    for (const [path, bytes] of files) {
      this.entries.set(path, { kind: "file", bytes });
    }
  }

  /** Paths of the files. */
  get files(): string[] {
    return [...this.entries].filter(([, { kind }]) => kind === "file")
      .map(([path]) => path);
  }

  /** Size of all files in bytes. */
  get size(): number {
    return this.files.reduce((sum, path) => sum + this.bytes(path).length, 0);
  }

  /** Returns the content of a file, which must not be modified. */
  bytes(path: string): Uint8Array {
    const entry = this.entries.get(path);
    return entry?.kind === "file" ? entry.bytes : new Uint8Array(0);
  }

  /** Overwrites bytes at an offset. Bytes beyond the end of the file are dropped. */
  overwrite(path: string, start: number, bytes: Uint8Array, how: string): void {
    const copy = this.bytes(path).slice();
    const end = Math.min(copy.length, start + bytes.length);
    if (start >= end) return;
    copy.set(bytes.subarray(0, end - start), start);
    this.entries.set(path, { kind: "file", bytes: copy });
    this.touched?.push({ path, start, end });
    this.log.push(`${path} [${start}, ${end}): ${how}`);
  }

  /** Replaces the content of a file. */
  replace(path: string, bytes: Uint8Array, how: string): void {
    this.put(path, { kind: "file", bytes }, how);
  }

  /** Replaces, adds or removes an entry. */
  put(path: string, entry: DraftEntry | undefined, how: string): void {
    if (entry === undefined) this.entries.delete(path);
    else this.entries.set(path, entry);
    this.touched = undefined;
    this.log.push(`${path}: ${how}`);
  }

  /** Writes the entries below a directory. Skips entries that no file system supports, or whose parent is a file. */
  write(directory: string): void {
    for (const [path, entry] of this.entries) {
      const place = `${directory}/${path}`;
      try {
        fs.mkdirSync(dirname(place), { recursive: true });
        if (entry.kind === "file") fs.writeFileSync(place, entry.bytes);
        else if (entry.kind === "link") fs.symlinkSync(entry.target, place);
        else fs.mkdirSync(place, { recursive: true });
      } catch (error) {
        const { code } = error as { code?: string };
        if (
          !UNWRITABLE.has(code ?? "")
        ) {
          throw error;
        }
      }
    }
  }
}
