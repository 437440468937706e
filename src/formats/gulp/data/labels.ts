import { parseJsonFile } from "../../../codecs/json/value.ts";
import { asLabel } from "../../../data/split/as_label.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/** Videos whose meta data are read at a time. */
const PAGE = 4096;

/** The labels of videos, by a key of their meta data. */
export async function* metaLabels(
  container: VirtualFs,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  let paths: string[] = [];
  let first = 0;
  async function* readPage(): AsyncGenerator<string, void, undefined> {
    const contents = await container.read(paths, { signal });
    for (const [i, bytes] of contents.entries()) {
      const meta = parseJsonFile(bytes);
      const isObject = typeof meta === "object" && meta !== null &&
        !Array.isArray(meta) && Object.hasOwn(meta, label);
      yield asLabel(
        isObject ? meta[label] : undefined,
        first + i,
        () => `${container.location}/${paths[i]}`,
        label,
      );
    }
    first += paths.length;
    paths = [];
  }
  const entries = container.walk("", { maxDepth: 1, signal });
  for await (const { path, isDirectory } of entries) {
    if (isDirectory) paths.push(`${path}/meta.json`);
    if (paths.length === PAGE) yield* readPage();
  }
  yield* readPage();
}
