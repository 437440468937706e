/** Mutations of MDS and LitData: tables and sizes in shards, also in compressed ones, and values of indexes. */
import { Buffer } from "node:buffer";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

const SHARD = /\.mds$|(^|\/)chunk-\d+-\d+\.bin$/;
const COMPRESSED = /\.mds\.zstd$|\.zstd\.bin$/;
const INDEX = /(^|\/)index\.json$/;

/** Sets a word of a shard's table, or one at the start of a sample. */
const setWord: Mutation = {
  name: "set number of a shard",
  weight: 5,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, SHARD);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    if (bytes.length < 4) return;
    const at = dice.pick(wordsOf(bytes));
    const value = dice.pick(limitsAround(bytes.length, at, wordAt(bytes, at)));
    draft.overwrite(path, at, integerBytes(value, 4, true), "number");
  },
};

/** The same in a compressed shard, which stays valid zstd. */
const setCompressed: Mutation = {
  name: "set number of a compressed shard",
  weight: 3,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, COMPRESSED);
    if (path === undefined) return;
    let bytes: Buffer;
    try {
      bytes = zstdDecompressSync(draft.bytes(path));
    } catch {
      return; // damaged by an earlier mutation
    }
    if (bytes.length < 4) return;
    const at = dice.pick(wordsOf(bytes));
    const value = dice.pick(limitsAround(bytes.length, wordAt(bytes, at)));
    bytes.set(integerBytes(value, 4, true), at);
    draft.replace(path, zstdCompressSync(bytes), "number inside");
  },
};

/** Sets a value of the index, by its key. */
const setIndex: Mutation = {
  name: "set value of an index",
  weight: 5,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, INDEX);
    if (path === undefined) return;
    const text = new TextDecoder().decode(draft.bytes(path));
    const key = dice.pick([
      "basename",
      "bytes",
      "chunk_bytes",
      "chunk_size",
      "column_encodings",
      "column_names",
      "column_sizes",
      "compression",
      "data_format",
      "data_spec",
      "dim",
      "encryption",
      "filename",
      "format",
      "item_loader",
      "samples",
      "sha1",
      "version",
      "zip_data",
    ]);
    const value = dice.pick([
      "null",
      "-1",
      "0",
      "1",
      "3.5",
      "4294967295",
      "1e300",
      '"../x"',
      '"/etc/passwd"',
      '"zstd"',
      '"bz2"',
      "[]",
      "{}",
      '["int", "str", "ndarray:int8:9", "pil"]',
      '["ndarray", "jpeg", "str", "pkl"]',
      "[8, null, null, 8]",
      '["tensor", "numpy", "jpeg_array", "pickle"]',
      '["no_header_tensor:18"]',
      '"TokensLoader"',
    ]);
    const all = [
      ...text.matchAll(
        new RegExp(
          `("${key}": )([^{}\\[\\],]+|\\[[^\\]]*\\]|\\{[^{}]*\\})`,
          "g",
        ),
      ),
    ];
    if (all.length === 0) return;
    const { index, 0: whole, 1: head } = dice.pick(all);
    const changed = text.slice(0, index) + head + value +
      text.slice(index + whole.length);
    draft.replace(path, new TextEncoder().encode(changed), `${key}: ${value}`);
  },
};

export const MDS_MUTATIONS: readonly Mutation[] = [
  setWord,
  setCompressed,
  setIndex,
];

/** Returns the offsets of numbers: in the table, and at the start of samples. */
function wordsOf(bytes: Uint8Array): number[] {
  const samples = Math.min(Number(wordAt(bytes, 0)), 64);
  const places = [0];
  for (let i = 1; i <= samples + 1; i++) {
    if (4 * i + 4 > bytes.length) break;
    places.push(4 * i);
    const start = wordAt(bytes, 4 * i);
    for (const at of [start, start + 4, start + 8]) {
      if (at + 4 <= bytes.length) places.push(at);
    }
  }
  return places;
}

function wordAt(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
}
