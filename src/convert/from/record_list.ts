import { encodeName } from "../../base/names.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { SampleRuns } from "../../tree/sample_runs.ts";
import type { NodeId } from "../../tree/tree.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { type ConvertOptions, PlanNotes, type Run } from "../conversion.ts";
import type { FileTree } from "./file_tree.ts";
import type { ConversionSource } from "./source.ts";

/** Ordered contents without names. */
export interface RecordList {
  /** Number of contents. */
  readonly length: number;
  /** Reads the content at `index`. Lists made from files support only sequential access. */
  at(index: number): Promise<Uint8Array>;
  /** Returns the number in the source of the content at `index`; the same if absent. */
  numberOf?(index: number): number;
}

export interface RecordSequence {
  /** Includes skipped contents. */
  readonly length: number;
  read(run: Run): AsyncIterable<Uint8Array>;
}

export function inSequence(list: RecordList): RecordSequence {
  return {
    length: list.length,
    async *read() {
      for (let i = 0; i < list.length; i++) yield await list.at(i);
    },
  };
}

/** Returns the contents of files without names, each readable once and in order. */
async function contentsOf(
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

/**
 * Returns the samples of a container that are files without names, or named by numbers. Skips the nodes in
 * `unreadable`. If samples are directories, reads the file `field` of each.
 */
export function containerRecords(
  container: VirtualFs,
  options: WaitOptions,
  unreadable: ReadonlySet<NodeId> = new Set(),
  field?: string,
): RecordList {
  const { tree } = container;
  const samples = SampleRuns.of(tree.samples!());
  const name = field === undefined ? undefined : encodeName(field);
  const nodeOf = (sample: number) => {
    const node = samples.node(sample);
    return name === undefined ? node : tree.lookup(node, name, 0, name.length);
  };
  const all = unreadable.size === 0
    ? undefined
    : Float64Array.from({ length: samples.length }, (_, i) => i)
      .filter((sample) => !unreadable.has(nodeOf(sample)));
  const sampleAt = (index: number) => all?.[index] ?? index;
  const numberOf = (index: number) => {
    const sample = sampleAt(index);
    return container.subset?.indices[sample] ?? sample;
  };
  return {
    length: all?.length ?? samples.length,
    numberOf,
    async at(index) {
      const ino = nodeOf(sampleAt(index));
      const path = `${numberOf(index)}`;
      const entry = { path, name: path, depth: 1, ino, isFile: true };
      return await container.read({ ...entry, isDirectory: false }, options);
    },
  };
}

/** Contents without names, and what is lost thereby. */
export interface Records {
  readonly list: RecordList;
  /** Whether access is random rather than sequential. */
  readonly isByIndex: boolean;
  readonly notes: PlanNotes;
}

export async function recordsFrom(
  source: ConversionSource,
  options: ConvertOptions,
): Promise<Records> {
  const notes = new PlanNotes();
  notes.kept.push("contents and their order");
  const own = source.records(notes, options);
  if (own !== undefined) return { list: own, isByIndex: true, notes };
  source.noteContents(notes);
  const list = await contentsOf(await source.files(), options);
  notes.lost.push("the names of files and directories");
  return { list, isByIndex: false, notes };
}
