import type { Container, ContainerInfo } from "../../../tree/format.ts";
import { nameSuffix } from "../../../tree/numbered_names.ts";
import type { Tree } from "../../../tree/tree.ts";
import type { RecordFiles } from "../read/record_files.ts";
import { SampleTree } from "./tree.ts";

/** Shows files as numbered samples. */
export function sampleContainer(
  files: RecordFiles,
  ext: string | undefined,
): Container {
  const suffix = nameSuffix(ext);
  const tree = new SampleTree({ ...files, mtime: newest(files) }, suffix);
  const kind = files.sources.length === 1
    ? "samples"
    : "samples in several files";
  return { tree, info: describe(files, kind, tree) };
}

/** What is known of files that show as that tree. */
export function describe(
  { index, sources }: RecordFiles,
  kind: string,
  tree: Tree,
): ContainerInfo {
  return {
    format: "ffrecord",
    kind,
    files: tree.nodeCount - 1,
    directories: 0,
    bytes: sources.reduce((sum, { size }) => sum + size, 0),
    parts: index.parts.map((part) => ({
      path: part.path,
      bytes: part.size,
      samples: part.count,
    })),
  };
}

/** Last modification of the newest file, in milliseconds since 1970. */
export function newest({ sources }: RecordFiles): number {
  return sources.reduce((latest, { mtime }) => Math.max(latest, mtime), 0);
}
