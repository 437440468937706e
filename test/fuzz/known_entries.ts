/** The entries of the originals, by which untouched entries of mutated containers are recognized. */
import * as fs from "node:fs";
import { runSync } from "../../src/io/concurrency/steps.ts";
import { newExtent } from "../../src/tree/tree.ts";
import { openSync } from "../../src/open/mod.ts";
import { findNode } from "../../src/tree/vfs/paths.ts";
import { digestOf } from "./digest.ts";
import { Draft } from "./draft.ts";
import type { Original } from "./originals.ts";

/** A file in the tree of an original. */
export interface KnownEntry {
  /** The container's file that holds the data, and the range in it. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly isReadable: boolean;
  readonly digest: string;
}

/** Entries by path. */
export interface KnownEntries {
  /** Kind of the container, as `info` shows it. */
  readonly kind: string;
  readonly entries: ReadonlyMap<string, KnownEntry>;
  /** Whether a range of bytes holds only the data of entries. */
  covers(file: string, start: number, end: number): boolean;
}

const known = new Map<string, KnownEntries | undefined>();

/** Returns the entries of an original, or `undefined` if it cannot be opened. */
export function knownEntries(original: Original): KnownEntries | undefined {
  const { name } = original;
  if (!known.has(name)) known.set(name, read(original));
  return known.get(name);
}

function read(original: Original): KnownEntries | undefined {
  const directory = fs.mkdtempSync(`${Deno.cwd()}/known-`);
  try {
    new Draft(original.files).write(directory);
    return readFrom(directory, original);
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

function readFrom(
  directory: string,
  { target }: Original,
): KnownEntries | undefined {
  try {
    using tree = openSync(`${directory}/${target}`, { onWarning() {} });
    const entries = new Map<string, KnownEntry>();
    for (const { path, isFile } of tree.walkSync()) {
      if (!isFile) continue;
      const extent = newExtent();
      tree.tree.locate(runSync(findNode(tree.tree, path)), extent);
      const { source, offset, length } = extent;
      const name = source < 0 ? "" : tree.tree.sources.at(source)!.name;
      const file = name.slice(directory.length + 1);
      const content = readable(() => tree.readSync(path));
      entries.set(path, {
        file,
        start: offset,
        end: offset + length,
        isReadable: content !== undefined,
        digest: digestOf(content),
      });
    }
    return {
      kind: tree.info.kind,
      entries,
      covers: (...range) => covers(entries, ...range),
    };
  } catch {
    return undefined;
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Metadata files have entries as well, but hold more than their data. */
const DATA = /\.(ffr|gulp|bag)$/;

function covers(
  entries: ReadonlyMap<string, KnownEntry>,
  file: string,
  start: number,
  end: number,
): boolean {
  if (!DATA.test(file)) return false;
  const parts = [...entries.values()]
    .filter((entry) =>
      entry.file === file && entry.start < end && start < entry.end
    )
    .sort((a, b) => a.start - b.start);
  let covered = start;
  for (const part of parts) {
    if (part.start > covered) return false;
    covered = Math.max(covered, part.end);
  }
  return covered >= end;
}
