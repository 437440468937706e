/** Containers in memory, on their way to being mutated. */
import * as fs from "node:fs";
import { dirname } from "node:path";

/** What is at a path. */
export type DraftEntry =
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "directory" }
  | { readonly kind: "link"; readonly target: string };

/** Bytes of a file that are not as they were. */
export interface Touched {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** What keeps names from being written that no file system has, or that others are in the way of. */
const UNWRITABLE: ReadonlySet<string> = new Set(
  ["EEXIST", "EINVAL", "EISDIR", "ELOOP", "ENAMETOOLONG", "ENOENT", "ENOTDIR"],
);

/** A container that is being mutated: files by their paths, and what was done to them. */
export class Draft {
  readonly entries = new Map<string, DraftEntry>();
  /** What was done, for people. */
  readonly log: string[] = [];
  /** Which bytes have changed in place, or `undefined` where more than that was done. */
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

  /** Bytes of all files. */
  get size(): number {
    return this.files.reduce((sum, path) => sum + this.bytes(path).length, 0);
  }

  /** What is in a file. Not to be written to. */
  bytes(path: string): Uint8Array {
    const entry = this.entries.get(path);
    return entry?.kind === "file" ? entry.bytes : new Uint8Array(0);
  }

  /** Puts bytes over those at an offset; what would lie beyond the end is left out. */
  overwrite(path: string, start: number, bytes: Uint8Array, how: string): void {
    const copy = this.bytes(path).slice();
    const end = Math.min(copy.length, start + bytes.length);
    if (start >= end) return;
    copy.set(bytes.subarray(0, end - start), start);
    this.entries.set(path, { kind: "file", bytes: copy });
    this.touched?.push({ path, start, end });
    this.log.push(`${path} [${start}, ${end}): ${how}`);
  }

  /** Gives a file another content. */
  replace(path: string, bytes: Uint8Array, how: string): void {
    this.put(path, { kind: "file", bytes }, how);
  }

  /** Puts something at a path, in place of what is there. */
  put(path: string, entry: DraftEntry | undefined, how: string): void {
    if (entry === undefined) this.entries.delete(path);
    else this.entries.set(path, entry);
    this.touched = undefined;
    this.log.push(`${path}: ${how}`);
  }

  /** Writes it below a directory. Names that a file has are no directories: then others are left out. */
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
