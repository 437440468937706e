import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { SampleRuns } from "../../tree/sample_runs.ts";
import type { VirtualFs } from "../../vfs/virtual_fs.ts";
import type { FileTree } from "./file_tree.ts";

/** Contents without names, in an order. */
export interface RecordList {
  /** How many there are. */
  readonly length: number;
  /** Gives the content at `index`; files only give one after the other. */
  at(index: number): Promise<Uint8Array>;
}

/** The contents of files, without their names, each of which is asked for once and in order. */
export async function contentsOf(
  files: FileTree,
  options: WaitOptions,
): Promise<RecordList> {
  let length = 0;
  for await (const { isDirectory } of files.walk(options)) {
    if (!isDirectory) length++;
  }
  const walk = files.walk(options)[Symbol.asyncIterator]();
  return {
    length,
    async at() {
      for (;;) {
        const { value, done } = await walk.next();
        if (done) throw new Error(`${files.location} has changed`);
        if (!value.isDirectory) return await files.read(value, options);
      }
    },
  };
}

/** The samples of a container that are files without names, or with names that are numbers. */
export function containerRecords(
  container: VirtualFs,
  options: WaitOptions,
): RecordList {
  const samples = SampleRuns.of(container.tree.samples!());
  return {
    length: samples.length,
    async at(index) {
      const ino = samples.node(index);
      const path = `${index}`;
      const entry = { path, name: path, depth: 1, ino, isFile: true };
      return await container.read({ ...entry, isDirectory: false }, options);
    },
  };
}
