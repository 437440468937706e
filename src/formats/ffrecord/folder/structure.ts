import { newSharedMemory } from "../../../io/libc/new_memory.ts";
import { FormatError } from "../../../base/errors.ts";
import { ORDERED_DICT } from "../../../codecs/pickle/class_roles.ts";
import {
  NumberedBatch,
  takeNumberedItems,
} from "../../../codecs/pickle/numbered_items.ts";
import { PickleMachine } from "../../../codecs/pickle/machine.ts";
import { PickleError } from "../../../codecs/pickle/pickle_error.ts";
import { decodePickledText } from "../../../codecs/pickle/text.ts";
import { Tag } from "../../../codecs/pickle/columns.ts";
import { decodeName, encodeName } from "../../../base/names.ts";
import { optionText } from "../../../base/named_option.ts";
import { AS_SAMPLES } from "../kinds.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";
import {
  MOST_NAME_BYTES,
  type NameFault,
  NameFaultError,
  NamesTooLongError,
  NameTableBuilder,
} from "../../../tree/names/name_table_builder.ts";
import { hasMagic, MAGIC } from "./structure_magic.ts";

/** Structure of a packed folder, before its conversion to a name table. */
export interface Structure {
  readonly path: string;
  readonly machine: PickleMachine;
  readonly root: number;
  /** Number of files in the folder, which are the samples before the structure. */
  readonly fileCount: number;
  /** Offset to add to the structure's indices for sample numbers. */
  readonly firstSample: number;
}

export function notPacked(path: string): FormatError {
  return new FormatError(
    "not-packed",
    `Cannot open ${path}: it is not a packed folder, since its last sample is not a folder structure. ` +
      `Read it as plain samples with ${optionText(AS_SAMPLES)}`,
    { path, namedOptions: [AS_SAMPLES] },
  );
}

/**
 * Reads the last sample of a packed folder: the magic, then a pickle of nested `OrderedDict`s, name -> sample index or
 * name -> folder. The sample must be in shared memory: the names stay there.
 *
 * @throws {FormatError} If it is not a structure, or its pickle is damaged or unsafe.
 */
export function readStructure(
  sample: Uint8Array,
  path: string,
  fileCount: number,
  firstSample = 0,
): Structure {
  if (!hasMagic(sample, sample.byteLength)) throw notPacked(path);
  try {
    const pickle = sample.subarray(MAGIC.length);
    const machine = new PickleMachine(pickle, ORDERED_DICT);
    const stack = machine.run();
    const last = stack.length - 1;
    if (stack.tags[last] !== Tag.DICT) {
      throw badStructure(path, "the structure is not a folder");
    }
    const root = stack.a[last]!;
    return { path, machine, root, fileCount, firstSample };
  } catch (error) {
    throw explain(error, path);
  }
}

/** Structure, and the folder to show it in: `undefined` for the root itself. */
export interface PlacedStructure {
  readonly structure: Structure;
  readonly folder: string | undefined;
}

/**
 * Builds a table of all names, breadth first, of one structure without a folder, or several with one folder each.
 *
 * @param mostNameBytes Limit of the structures' total size.
 * @throws {FormatError} If a name, an index or the shape of a structure is invalid.
 */
export function buildNameTable(
  placed: readonly PlacedStructure[],
  mostNameBytes = MOST_NAME_BYTES,
): NameTable {
  const { names, bases } = joinPickles(placed, mostNameBytes);
  const mostEntries = placed.reduce(
    (sum, { structure: { machine } }) =>
      sum + (machine.containers.items.length >>> 1) +
      machine.containers.numberedItems,
    placed.length,
  );
  const builder = new NameTableBuilder(
    mostEntries,
    names,
    recodeName,
    mostNameBytes,
  );
  const queue: Folder[] = [];
  builder.nextDirectory();
  for (const [i, { structure, folder }] of placed.entries()) {
    const seen = new Uint8Array(structure.machine.containers.length);
    seen[structure.root] = 1;
    const base = bases[i]!;
    const root = { structure, base, container: structure.root, seen };
    if (folder === undefined) addEntries(builder, root, queue);
    else {
      const name = encodeName(folder);
      const start = builder.intern(name);
      builder.addDirectory(start, start + name.length);
      queue.push(root);
    }
  }
  for (let next = 0; next < queue.length; next++) {
    builder.nextDirectory();
    addEntries(builder, queue[next]!, queue);
  }
  try {
    return builder.finish();
  } catch (error) {
    throw explain(error, placed[0]!.structure.path);
  }
}

/** Concatenates the pickles, which hold the names, in shared memory. */
function joinPickles(
  placed: readonly PlacedStructure[],
  mostNameBytes: number,
): { names: Uint8Array; bases: number[] } {
  const pickles = placed.map(({ structure }) => structure.machine.bytes);
  const bases: number[] = [];
  let length = 0;
  for (const [i, pickle] of pickles.entries()) {
    bases.push(length);
    length += pickle.length;
    if (length > mostNameBytes) throw tooLarge(placed[i]!.structure.path);
  }
  const [only] = pickles;
  if (only !== undefined && pickles.length === 1) return { names: only, bases };
  const names = new Uint8Array(newSharedMemory(length));
  pickles.forEach((pickle, i) => names.set(pickle, bases[i]));
  return { names, bases };
}

interface Folder {
  readonly structure: Structure;
  /** Offset of the structure's pickle in the table's names. */
  readonly base: number;
  readonly container: number;
  /** Flags of this structure's containers that are folders already. */
  readonly seen: Uint8Array;
}

function addEntries(
  builder: NameTableBuilder,
  folder: Folder,
  queue: Folder[],
): void {
  const { machine, path } = folder.structure;
  try {
    machine.containers.forEachRun(folder.container, (start, count) => {
      addRun(builder, folder, start, start + count, queue);
    }, (start, count) => addFiles(builder, folder, start, count));
  } catch (error) {
    throw explain(error, path);
  }
}

/** Reused: there are hundreds of runs, one at a time. */
const batch = new NumberedBatch();

/** Adds the names with a number each that are in the pickle at `start`. */
function addFiles(
  builder: NameTableBuilder,
  { base, structure }: Folder,
  start: number,
  count: number,
): void {
  const { machine, path, fileCount, firstSample } = structure;
  for (let at = start, left = count; left > 0; left -= batch.length) {
    takeNumberedItems(machine.bytes, at, left, batch);
    at = batch.next;
    const { length, values } = batch;
    for (let i = 0; i < length; i++) {
      const index = values[i]!;
      if (index >= 0 && index < fileCount) continue;
      throw badIndex(path, index, fileCount);
    }
    builder.addFiles(batch, base, firstSample);
  }
}

/** Adds the keys and values in rows `from … to` of the items; most are names of files. */
function addRun(
  builder: NameTableBuilder,
  folder: Folder,
  from: number,
  to: number,
  queue: Folder[],
): void {
  const { base, structure } = folder;
  const { machine, fileCount, firstSample } = structure;
  const { tags, a, b } = machine.containers.items;
  for (let row = from; row < to; row += 2) {
    const start = a[row]! + base;
    const index = a[row + 1]!;
    const isFile = tags[row] === Tag.TEXT && tags[row + 1] === Tag.INT &&
      index >= 0 && index < fileCount;
    if (isFile) builder.addFile(start, start + b[row]!, firstSample + index);
    else addOther(builder, folder, row, queue);
  }
}

/** Adds a folder, or a name that is not verbatim in the pickle, or throws. */
function addOther(
  builder: NameTableBuilder,
  folder: Folder,
  row: number,
  queue: Folder[],
): void {
  const { structure, base, seen } = folder;
  const { machine, path, fileCount, firstSample } = structure;
  const { items } = machine.containers;
  let start = items.a[row]! + base;
  let end = start + items.b[row]!;
  if (items.tags[row] !== Tag.TEXT) {
    const side = items.tags[row] === Tag.SIDE
      ? machine.side[items.a[row]!]
      : undefined;
    if (typeof side !== "string") {
      throw badStructure(path, "a name is not a string");
    }
    const name = encodeName(side);
    start = builder.intern(name);
    end = start + name.length;
  }
  const value = items.a[row + 1]!;
  switch (items.tags[row + 1]) {
    case Tag.INT:
      if (value < 0 || value >= fileCount) {
        throw badIndex(path, value, fileCount);
      }
      builder.addFile(start, end, firstSample + value);
      break;
    case Tag.DICT:
      if (seen[value] === 1) {
        throw badStructure(
          path,
          "the structure has a cycle or a shared folder: " +
            "one folder is in two places",
        );
      }
      seen[value] = 1;
      builder.addDirectory(start, end);
      queue.push({ structure, base, container: value, seen });
      break;
    default:
      throw badStructure(path, "a leaf is not a valid index");
  }
}

/** Converts a name that is not ASCII from the pickle's text to its bytes on disk. */
function recodeName(name: Uint8Array): Uint8Array {
  if (!name.includes(0xed)) {
    decodePickledText(name, 0, name.length); // throws unless it is UTF-8, which then is the name
    return name;
  }
  return encodeName(decodePickledText(name, 0, name.length));
}

const FAULTS: Record<NameFault, string> = {
  empty: "an empty name",
  dots: "a name of dots that would lead out of the folder",
  slash: "a name with a slash",
  nul: "a name with a NUL byte",
  long: "a name that is too long for any directory",
  twice: "the same name twice in one folder",
};

function explain(error: unknown, path: string): unknown {
  if (error instanceof NameFaultError) {
    const name = JSON.stringify(decodeName(error.bytes.slice(0, 100)));
    return new FormatError(
      error.fault === "twice" ? "bad-structure" : "unsafe-name",
      `Cannot read ${path}: the folder structure is damaged or hostile: ` +
        `it has ${FAULTS[error.fault]}, ${name}, which no directory can ` +
        "hold",
      { path },
    );
  }
  if (error instanceof NamesTooLongError) return tooLarge(path);
  if (error instanceof PickleError) {
    return new FormatError(
      error.code,
      `Cannot read ${path}: the folder structure is a ` +
        `${error.code === "unsafe-pickle" ? "hostile" : "damaged"} pickle: ` +
        `${error.message} (byte ${error.offset} of it)`,
      { path, offset: error.offset, cause: error },
    );
  }
  return error;
}

function tooLarge(path: string): FormatError {
  return new FormatError(
    "too-large",
    `Cannot open ${path}: all names together take more than 4 GiB. Open ` +
      "fewer packed folders together",
    { path },
  );
}

function badIndex(path: string, index: number, fileCount: number): FormatError {
  return badStructure(
    path,
    index < 0
      ? `a leaf is not a valid index: ${index}`
      : `index out of range: file ${index} of ${fileCount}`,
  );
}

function badStructure(path: string, what: string): FormatError {
  return new FormatError(
    "bad-structure",
    `Cannot read ${path}: the folder structure is damaged or hostile: ` +
      `${what}`,
    { path },
  );
}
