import type { FormatDescriptor } from "../format.ts";
import { INTERLEAVED, isOwn, isPattern, limitsPath } from "./layout.ts";

/** Bagz: records, each compressed by itself, in files and shards. */
export const bagz: FormatDescriptor = {
  name: "bagz",
  description: "Bagz: records compressed one by one, shards of them",
  variants: [{
    name: INTERLEAVED,
    description: "Bagz whose shards were written by turns",
  }],
  suffixes: [".bagz", ".bag"],
  nestedSuffixes: [".bagz"],
  hasNoMagic: true,
  *detect({ path, names, headOf }) {
    if (names !== undefined) return names.some((name) => isOwn(name, names));
    if (isOwn(path, [])) return true;
    if (!path.endsWith(".bag")) return false;
    const limits = limitsPath(path);
    const name = limits.slice(limits.lastIndexOf("/") + 1);
    return (yield* headOf(name, 0)) !== undefined;
  },
  evidence: (names) =>
    `files of Bagz (${names.find((name) => isOwn(name, names))})`,
  isPattern,
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts!["records"]!,
  }),
  load: async () => (await import("./format.ts")).bagz,
};
