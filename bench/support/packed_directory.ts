import {
  FFRecordReader,
  FFRecordWriter,
} from "../../src/formats/ffrecord/mod.ts";
import { randomBytes } from "./random_bytes.ts";

/** Marker that FFRecord writes before the pickle of a packed folder's names. */
const STRUCTURE_MARK = "piouhjgbr";

/** Batch size of SETITEMS in Python's pickles. */
const BATCH = 1000;

/** Packed directory of files of equal size. */
export interface PackedDirectory {
  /** The FFRecord file. */
  readonly archive: string;
  /** Text file next to it, `OFFSET LENGTH NAME` a line: the same for a server without FFRecord support. */
  readonly index: string;
  /** The files' names, in order. */
  readonly names: readonly string[];
  /** Offset of each file's bytes in the archive. */
  readonly offsets: Float64Array;
  /** Size of each file in bytes. */
  readonly size: number;
}

/** Packs `count` files of `size` pseudo-random bytes into `archive`. */
export function makePackedDirectorySync(
  archive: string,
  count: number,
  size: number,
): PackedDirectory {
  const names = Array.from(
    { length: count },
    (_, i) => `${String(i).padStart(6, "0")}.jpg`,
  );
  // Each file is a different window of one block: cheap to make, yet no two files are equal.
  const block = randomBytes(size + count);
  const structure = pickleStructure(names);
  using writer = FFRecordWriter.openSync(archive, { count: count + 1 });
  for (let i = 0; i < count; i++) writer.writeSync(block.subarray(i, i + size));
  writer.writeSync(structure);
  writer.closeSync();
  using reader = FFRecordReader.openSync(archive);
  const { offsets } = reader;
  const index = `${archive}.index`;
  Deno.writeTextFileSync(
    index,
    names.map((name, i) => `${offsets[i]} ${size} ${name}\n`).join(""),
  );
  return { archive, index, names, offsets, size };
}

/** Returns the end of a packed folder: a marker, and `OrderedDict((name, index), …)` pickled in protocol 2. */
export function pickleStructure(
  names: readonly string[],
): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [
    encoder.encode(STRUCTURE_MARK),
    Uint8Array.of(0x80, 2), // PROTO 2
    encoder.encode("ccollections\nOrderedDict\n)R"), // GLOBAL, EMPTY_TUPLE, REDUCE
  ];
  for (const [i, name] of names.entries()) {
    if (i % BATCH === 0) parts.push(encoder.encode(i === 0 ? "(" : "u(")); // SETITEMS, MARK
    const bytes = encoder.encode(name);
    const item = new DataView(new ArrayBuffer(bytes.length + 10));
    item.setUint8(0, 0x58); // BINUNICODE
    item.setUint32(1, bytes.length, true);
    new Uint8Array(item.buffer).set(bytes, 5);
    item.setUint8(5 + bytes.length, 0x4a); // BININT
    item.setInt32(6 + bytes.length, i, true);
    parts.push(new Uint8Array(item.buffer));
  }
  parts.push(encoder.encode("u.")); // SETITEMS, STOP
  return concat(parts);
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
