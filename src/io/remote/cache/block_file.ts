import { runSync } from "../../concurrency/steps.ts";
import { changedFile } from "../../storage/changed_file.ts";
import { FileSource } from "../../storage/file_source.ts";
import type { BlockMap } from "./block_store.ts";

/** Opens an object's blocks for reading in any thread. Throws `changed` if the path now leads to another file. */
export function openBlockFile(
  { path, device, inode }: Pick<BlockMap, "path" | "device" | "inode">,
): FileSource {
  const file = runSync(FileSource.open(path, { mayGrow: true }));
  const { dev, ino } = file.identity;
  if (dev === device && ino === inode) return file;
  file.close();
  throw changedFile(path, `${device}:${inode}`, `${dev}:${ino}`);
}
