/** Mutations of compressed files: what is in them, so that they can be decompressed all the same. */
import { gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Mutation, pickNamed } from "./mutation.ts";

/** A byte inside; the sizes that decompressing has to bear. */
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
      return; // another mutation was here
    }
    if (bytes.length === 0) return;
    bytes.set(dice.bytes(1), dice.int(bytes.length));
    draft.replace(path, gzipSync(bytes), "byte inside");
  },
};

/** What expands to far more than it takes. */
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
