import { ended, type Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { INDEX, isChunk, isIndex } from "./layout.ts";

/** Bytes of an index that are searched for its chunks, with which it begins. */
const HEAD = 1 << 12;

/** LitData: samples in chunks, of PyTorch Lightning. */
export const litdata: FormatDescriptor = {
  name: "litdata",
  description: "LitData of Lightning AI: samples of fields, in chunks",
  suffixes: [],
  detect,
  evidence: (names) =>
    names.includes(INDEX) && names.some(isChunk)
      ? `chunks of LitData (${INDEX})`
      : undefined,
  isDataset: (names) => ended(names.includes(INDEX) && names.some(isChunk)),
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts!["samples"]!,
  }),
  load: async () => (await import("./format.ts")).litdata,
};

function* detect(
  { path, names, size, read, headOf }: Probe,
): Steps<boolean> {
  if (names !== undefined) {
    // Chunks without a sound index get this format's error message.
    if (names.some(isChunk)) return true;
    if (!names.includes(INDEX)) return false;
    const head = yield* headOf(INDEX, HEAD);
    return head !== undefined && isIndex(head);
  }
  return path.slice(path.lastIndexOf("/") + 1) === INDEX &&
    isIndex(yield* read(0, Math.min(size, HEAD)));
}
