import type { Steps } from "../../io/concurrency/steps.ts";
import type { ContainerOptions, Probe } from "../../tree/format.ts";
import type { FormatEntry } from "../format.ts";
import { endOfHeader, parseCount } from "./layout.ts";

const PACKED = "ffrecord-packed";
export const SAMPLES = "ffrecord-samples";

/** FFRecord: packed folders as their directories, other files as numbered samples. */
export const ffrecord: FormatEntry = {
  name: "ffrecord",
  description: "FFRecord: packed folders, plain samples, directories of .ffr",
  variants: [
    {
      name: PACKED,
      description: "FFRecord, as a packed folder or not at all",
    },
    // Also what is left of a damaged folder.
    {
      name: SAMPLES,
      description:
        "FFRecord, as numbered samples even if it is a packed folder",
    },
  ],
  suffixes: [".ffr"],
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
  async openToServe(path, options) {
    const { openToServe } = await import("./tree/open_to_serve.ts");
    return await openToServe(path, options);
  },
};

/** What packed folders are, among the kinds of containers. */
export const PACKED_FOLDER = "packed folder";

/** Whether a container of that kind shows as numbered samples. */
export function areSamples(kind: string): boolean {
  return kind.startsWith("samples");
}

/** As what files are opened: as what they are, as packed folders or not at all, or as samples. */
export type OpenAs = "detect" | "packed" | "samples";

/** As what files are opened that were given this name of the format, or of a variant of it. */
export function openAs({ format }: ContainerOptions): OpenAs {
  if (format === PACKED) return "packed";
  return format === SAMPLES ? "samples" : "detect";
}

function* detect({ path: location, names, size, read }: Probe): Steps<boolean> {
  if (names !== undefined) return names.some((name) => name.endsWith(".ffr"));
  // A damaged file of that name gets FFRecord's explanation of what is wrong.
  if (location.endsWith(".ffr")) return true;
  if (size < endOfHeader(0)) return false;
  const count = parseCount(viewOf(yield* read(0, 12)));
  if (count === 0) return size === endOfHeader(0);
  if (count < 0 || endOfHeader(count) > size) return false;
  const first = viewOf(yield* read(12 + 4 * count, 8));
  const offset = first.getUint32(0, true) + first.getUint32(4, true) * 2 ** 32;
  return offset >= endOfHeader(count) && offset <= size;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
