import type { Steps } from "../../io/concurrency/steps.ts";
import { SHARD_PATTERN } from "../../io/storage/shards/shard_names.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { isIndex, isTensors, LARGEST_HEADER, LENGTH } from "./layout.ts";

/** SafeTensors: named tensors, in a file or in the shards of a model. */
export const safetensors: FormatDescriptor = {
  name: "safetensors",
  description: "SafeTensors: named tensors of models, shards of them",
  suffixes: [".safetensors"],
  detect,
  evidence: (names) => `files of SafeTensors (${names.find(isOwn)})`,
  isPattern: (path) => isTensors(path) && SHARD_PATTERN.test(path),
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts!["tensors"]!,
  }),
  load: async () => (await import("./format.ts")).safetensors,
};

function isOwn(name: string): boolean {
  return isTensors(name) || isIndex(name);
}

function* detect({ path, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some(isOwn);
  // A damaged file of that name gets this format's error message.
  if (isOwn(path)) return true;
  if (size < LENGTH + 2) return false;
  const head = yield* read(0, LENGTH + 2);
  const length = new DataView(head.buffer, head.byteOffset).getBigUint64(
    0,
    true,
  );
  return length >= 2n && length <= Math.min(LARGEST_HEADER, size - LENGTH) &&
    /^\{["}]/.test(String.fromCharCode(...head.subarray(LENGTH)));
}
