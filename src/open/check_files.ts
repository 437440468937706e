import { FormatError } from "../base/errors.ts";
import type { CheckOptions, CheckReport } from "../tree/format.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { countSamples } from "./data/counted_samples.ts";

/** Checks a container whose format has no check of its own: reads all files, which compares those that have checksums. */
export async function checkFiles(
  fs: VirtualFs,
  { onDamage, onProgress, signal }: CheckOptions,
): Promise<CheckReport> {
  const { info } = fs;
  let [done, damaged] = [0, 0];
  for await (const entry of fs.walk("", { signal })) {
    if (!entry.isFile) continue;
    try {
      for await (const piece of await fs.stream(entry, { signal })) {
        done = Math.min(done + piece.length, info.bytes);
        onProgress?.(done, info.bytes);
      }
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      damaged++;
      onDamage(error);
    }
  }
  onProgress?.(info.bytes, info.bytes); // more than contents: an index, and what lies between them
  return { samples: countSamples(info).length, bytes: info.bytes, damaged };
}
