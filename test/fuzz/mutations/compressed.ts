/** Mutations of the content of compressed files, which stay valid compressed files. */
import { gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Mutation, pickNamed } from "./mutation.ts";

/** Sets a byte of the decompressed content. */
const setInside: Mutation = {
  name: "set bytes inside a compressed file",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.gz$/);
    if (path === undefined) return;
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(gunzipSync(draft.bytes(path)));
    } catch {
      return; // damaged by an earlier mutation
    }
    if (bytes.length === 0) return;
    bytes.set(dice.bytes(1), dice.int(bytes.length));
    draft.replace(path, gzipSync(bytes), "byte inside");
  },
};

/** Appends a stream that expands to far more than its size. */
const addBomb: Mutation = {
  name: "append zeros, compressed",
  weight: 1,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.(gz|zst)$/);
    if (path === undefined) return;
    const compress = path.endsWith(".gz") ? gzipSync : zstdCompressSync;
    const zeros = compress(new Uint8Array(1 << dice.size(10, 24)));
    const before = draft.bytes(path);
    const bytes = new Uint8Array(before.length + zeros.length);
    bytes.set(before);
    bytes.set(zeros, before.length);
    draft.replace(path, bytes, "zeros at the end");
  },
};

export const COMPRESSED_MUTATIONS: readonly Mutation[] = [setInside, addBomb];
