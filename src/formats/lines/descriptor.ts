import type { Steps } from "../../io/concurrency/steps.ts";
import { isShardPattern } from "../../io/storage/shards/brace_locations.ts";
import type { Probe } from "../../tree/format.ts";
import type { FormatDescriptor } from "../format.ts";
import { isHidden, isNamedSo, KINDS, type LineKind } from "./kinds.ts";

/** JSON lines, CSV and TSV: text files of samples, told by their names. */
export const lines: readonly FormatDescriptor[] = KINDS.map((kind) => ({
  name: kind.name,
  description: `${kind.title}: a sample a ${kind.unit}, shards of them`,
  suffixes: kind.suffixes,
  areFiles: true,
  detect: (probe) => detect(kind, probe),
  isPattern: (path) => isShardPattern(path, (name) => isNamedSo(kind, name)),
  countSamples: ({ facts }) => ({
    unit: "samples",
    length: facts![`${kind.unit}s`]!,
  }),
  load: async () => (await import("./format.ts")).formatOf(kind),
}));

/**
 * Text says little of its format, so names tell. A directory is one of shards if it holds nothing else: lists of labels
 * lie next to what they label.
 */
function* detect(
  kind: LineKind,
  { path, names, namesIn }: Probe,
): Steps<boolean> {
  if (names === undefined) {
    return isNamedSo(kind, path.slice(path.lastIndexOf("/") + 1));
  }
  const shown = names.filter((name) => !isHidden(name));
  const areAll = shown.every((name) => isNamedSo(kind, name));
  return areAll && shown.length > 0 &&
    (yield* namesIn(shown[0]!)) === undefined;
}
