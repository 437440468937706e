/** Makes a directory of files, the same packed, and the location of each file in the container. */
import * as fs from "node:fs";
import { ffrBytes, type Folder, packedSamples } from "./ffrecord/make_ffr.ts";
import { FULL, LONG } from "./long.ts";

/** Sizes around the limits that matter: pages, read-ahead, the largest request. */
const SIZES = [
  ...[0, 1, 511, 4095, 4096, 4097, 65_536, 100_000, 131_071, 131_072, 131_073],
  ...[1_048_575, 1_048_576, 1_048_577, 3_000_000],
];

/** Names that programs tend to mishandle. */
const NAMES = [
  " leading space",
  "-dash",
  "two\nlines",
  "quo\"te'",
  "back\\slash",
  "*?[glob]",
  "été",
  "😀",
  "\u0301",
  ".hidden",
  "x".repeat(255),
  "é".repeat(127) + "y",
];

/** Number of files in one directory: more than one READDIR reply holds. */
export const MANY = LONG ? 3000 : FULL ? 1000 : 400;

/** Location of a file of the sample tree in the container. */
export interface PackedFile {
  readonly path: string;
  readonly size: number;
  /** Byte offset in the container. */
  readonly offset: number;
}

/** Writes `dir/original` and `dir/data.ffr`, and returns the files. */
export function makeSampleTree(dir: string): PackedFile[] {
  const folder: Record<string, Folder[string]> = {
    sizes: Object.fromEntries(SIZES.map((size) => [`s${size}`, content(size)])),
    names: Object.fromEntries(NAMES.map((name, i) => [name, content(i)])),
    "many": Object.fromEntries(
      Array.from({ length: MANY }, (_, i) => [`f${i}`, content(i % 50)]),
    ),
    empty: {},
    deep: Array.from({ length: 30 }).reduce<Folder>(
      (inner, _, i) => ({ [`level ${29 - i}`]: inner, file: content(i) }),
      {},
    ),
  };
  writeFolder(`${dir}/original`, folder);
  const samples = packedSamples(folder);
  fs.writeFileSync(`${dir}/data.ffr`, ffrBytes(samples));
  let offset = 12 + 12 * samples.length;
  return paths(folder, "").map((path, i) => {
    const size = samples[i]!.length;
    const file = { path, size, offset };
    offset += size;
    return file;
  });
}

/** Returns bytes that differ between files and offsets. */
function content(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let state = size + 1;
  for (let i = 0; i < size; i++) {
    state = Math.imul(state, 1_103_515_245) + 12_345 | 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

function writeFolder(dir: string, folder: Folder): void {
  fs.mkdirSync(dir);
  for (const [name, entry] of Object.entries(folder)) {
    const path = `${dir}/${name}`;
    if (entry instanceof Uint8Array) fs.writeFileSync(path, entry);
    else writeFolder(path, entry);
  }
}

function paths(folder: Folder, prefix: string): string[] {
  return Object.keys(folder).sort().flatMap((name) => {
    const entry = folder[name]!;
    const path = prefix + name;
    return entry instanceof Uint8Array ? [path] : paths(entry, `${path}/`);
  });
}
