import { viewOf } from "../../base/view_of.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { areSamples, PACKED, SAMPLES } from "./kinds.ts";
import { endOfHeader, parseCount } from "./layout.ts";

/** FFRecord: packed folders as their directories, other files as numbered samples. */
export const ffrecord: FormatDescriptor = {
  name: "ffrecord",
  description: "FFRecord: packed folders, plain samples, directories of .ffr",
  variants: [
    {
      name: PACKED,
      description: "FFRecord, as a packed folder, else an error",
    },
    // Also opens what remains of a damaged folder.
    {
      name: SAMPLES,
      description: "FFRecord, as numbered samples, even of a packed folder",
    },
  ],
  suffixes: [".ffr"],
  nestedSuffixes: [".ffr"],
  isArchive: true,
  detect,
  evidence: (names) =>
    `.ffr files (${names.find((name) => name.endsWith(".ffr"))})`,
  countSamples: ({ kind, files, facts }) => {
    if (!areSamples(kind)) return undefined;
    return { unit: "samples", length: files - (facts?.["unreadable"] ?? 0) };
  },
  targets: [
    { name: "ffrecord", suffix: ".ffr", ofNumbered: false },
    { name: SAMPLES, suffix: ".ffr", ofNumbered: true },
  ],
  load: async () => (await import("./format.ts")).ffrecord,
  async openDeferred(path, options) {
    const { openDeferred } = await import(
      "./tree/open_deferred.ts"
    );
    return await openDeferred(path, options);
  },
};

function* detect({ path: location, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some((name) => name.endsWith(".ffr"));
  // A damaged file with this suffix gets FFRecord's error message.
  if (location.endsWith(".ffr")) return true;
  if (size < endOfHeader(0)) return false;
  const count = parseCount(viewOf(yield* read(0, 12)));
  if (count === 0) return size === endOfHeader(0);
  if (count < 0 || endOfHeader(count) > size) return false;
  const first = viewOf(yield* read(12 + 4 * count, 8));
  const offset = first.getUint32(0, true) + first.getUint32(4, true) * 2 ** 32;
  return offset >= endOfHeader(count) && offset <= size;
}
