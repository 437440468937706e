import type { WaitOptions } from "../../io/storage/byte_source.ts";
import type { FileTree } from "./file_tree.ts";
import type { Source } from "./source.ts";

/** Contents without names, in an order. */
export interface RecordList {
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

/** The samples of FFRecord files, the records of a bag, or the values of a dataset's only key. */
export function recordsOf(
  source: Extract<Source, { kind: "samples" | "bag" | "dataset" }>,
  options: WaitOptions,
): RecordList {
  const { reader } = source;
  const { length } = reader;
  switch (source.kind) {
    case "samples":
      return { length, at: (i) => source.reader.readOne(i, options) };
    case "bag":
      return { length, at: (i) => source.reader.get(i, options) };
    case "dataset": {
      const [key] = source.reader.keys;
      return {
        length,
        async at(index) {
          const values = await source.reader.get(index, undefined, options);
          return values[key!] as Uint8Array;
        },
      };
    }
  }
}
