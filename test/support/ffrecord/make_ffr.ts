/** Writes FFRecord files for tests, from the format's description. */
import { crc32 } from "node:zlib";
import { Buffer } from "node:buffer";

/** A folder to pack. Names are in any order. */
export interface Folder {
  readonly [name: string]: Uint8Array | Folder;
}

/** Returns a plain `.ffr` file. */
export function ffrBytes(samples: readonly Uint8Array[]): Uint8Array {
  const header = ffrHeader(
    samples.map((bytes) => bytes.length),
    samples.map((bytes) => crc32(bytes)),
  );
  return new Uint8Array(Buffer.concat([header, ...samples]));
}

/** Returns the header of a file whose samples have these lengths and checksums, and are stored back to back. */
export function ffrHeader(
  lengths: readonly number[],
  checksums: readonly number[],
): Uint8Array {
  const count = lengths.length;
  const header = Buffer.alloc(12 + 12 * count);
  header.writeBigInt64LE(BigInt(count), 4);
  let offset = header.length;
  for (let i = 0; i < count; i++) {
    header.writeUInt32LE(checksums[i]!, 12 + 4 * i);
    header.writeBigInt64LE(BigInt(offset), 12 + 4 * count + 8 * i);
    offset += lengths[i]!;
  }
  header.writeUInt32LE(crc32(header.subarray(4)), 0);
  return header;
}

/** Returns the samples of a packed folder: its files, depth first by name, and then its structure. */
export function packedSamples(folder: Folder): Uint8Array[] {
  const samples: Uint8Array[] = [];
  const items = pickledFolder(folder, samples);
  const pickle = Buffer.concat([
    Buffer.from([0x80, 2]),
    items,
    Buffer.from("."),
  ]);
  samples.push(Buffer.concat([Buffer.from("piouhjgbr"), pickle]));
  return samples;
}

/** GLOBAL, EMPTY_TUPLE, REDUCE: a new OrderedDict in protocol 2. */
const NEW_DICT = Buffer.from("ccollections\nOrderedDict\n)R");

function pickledFolder(folder: Folder, samples: Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [NEW_DICT, Buffer.from("(")];
  for (const name of Object.keys(folder).sort()) {
    const text = Buffer.from(name);
    const head = Buffer.alloc(5, "X"); // BINUNICODE
    head.writeUInt32LE(text.length, 1);
    parts.push(head, text);
    const entry = folder[name]!;
    if (!(entry instanceof Uint8Array)) {
      parts.push(pickledFolder(entry, samples));
      continue;
    }
    const index = Buffer.alloc(5, "J"); // BININT
    index.writeInt32LE(samples.push(entry) - 1, 1);
    parts.push(index);
  }
  return Buffer.concat([...parts, Buffer.from("u")]); // SETITEMS
}
