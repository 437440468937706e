import { type FormatError, RecordfsError } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import {
  type ArchiveNotes,
  notedInfo,
  noteLines,
  unreadableNotes,
} from "../../../tree/archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import {
  NameTable,
  type NameTableColumns,
} from "../../../tree/names/name_table.ts";
import { NamedTree } from "../../../tree/names/named_tree.ts";
import { NumberedFiles } from "../../../tree/numbered_files.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import {
  type Extent,
  type NodeId,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import type { RecordFiles } from "../read/record_files.ts";
import { SampleIndex, type SamplePart } from "../read/sample_index.ts";
import { lostNotes } from "../../../tree/samples/open_shards.ts";
import { FFRecordSamples } from "../read/ffrecord_samples.ts";
import type { WholeSamples } from "../read/whole_samples.ts";

interface Samples {
  readonly sources: readonly ByteSource[];
  readonly index: SampleIndex;
  /** Of the newest file, in milliseconds since 1970. */
  readonly mtime: number;
}

/** Data from which another thread rebuilds a tree: `names` for packed folders, `suffix` for samples. */
interface SeedData {
  readonly parts: readonly SamplePart[];
  readonly mtime: number;
  readonly names?: NameTableColumns;
  readonly suffix?: string;
}

/** Samples as files: with the stored names of one packed folder or several, or in one directory, named by index. */
export class FFRecordTree extends NamedTree<NameTable | NumberedFiles> {
  override readonly sources: readonly ByteSource[];
  readonly samples?: () => SampleNodes;
  readonly #index: SampleIndex;
  readonly whole: WholeSamples;

  constructor(
    { sources, index, mtime }: Samples,
    names: NameTable | NumberedFiles,
  ) {
    super(names, mtime);
    this.sources = sources;
    this.#index = index;
    this.whole = index.whole;
    // The method exists only if a walk finds the samples in order.
    if (names instanceof NumberedFiles) {
      this.samples = () => names.samples(this.whole.ranges);
    }
  }

  get notes(): ArchiveNotes[] {
    const { names } = this;
    const cut = this.whole.cut.map(({ path, first, end }) => {
      const nodes = function* () {
        if (names instanceof NumberedFiles) {
          for (let i = first; i < end; i++) yield names.nodeOf(i);
          return;
        }
        for (let node = ROOT + 1; node <= names.length; node++) {
          const sample = names.record(node);
          if (sample >= first && sample < end) yield node;
        }
      };
      return unreadableNotes(path, nodes(), (node) => this.#faultOf(node));
    });
    return [...lostNotes(this.#index.lost), ...cut];
  }

  override locate(node: NodeId, into: Extent): boolean {
    const sample = this.names.record(node);
    // Even early reads must not return wrong bytes.
    if (sample >= 0) this.#index.waitUntilSound(sample);
    if (this.whole.isCut(sample)) throw this.#faultOf(node);
    return super.locate(node, into);
  }

  protected override sizeOf(sample: number): number {
    return this.whole.isCut(sample)
      ? this.#index.cutSizeOf(sample)
      : super.sizeOf(sample);
  }

  #faultOf(node: NodeId): FormatError {
    return this.#index.faultOf(this.names.record(node), this.pathTo(node));
  }

  protected override locateRecord(sample: number, into: Extent): void {
    this.#index.locate(sample, into);
  }

  sampleOf(node: NodeId): number {
    const sample = this.names.record(node);
    return sample < 0
      ? -1
      : sample - this.#index.firsts[this.#index.shardOf(sample)]!;
  }

  override share(): TreeHandle {
    const { names, mtime } = this;
    const { shards: parts } = this.#index;
    const data: SeedData = names instanceof NameTable
      ? { parts, mtime, names: names.columns }
      : { parts, mtime, suffix: names.suffix };
    return { module: import.meta.url, data };
  }

  override close(): void {
    for (const source of this.sources) source.close();
  }
}

/** Shows files as numbered samples; throws a {@linkcode FormatError} if all are truncated. */
export function sampleContainer(
  files: RecordFiles,
  options: Pick<ContainerOptions, "checkData" | "ext" | "onWarning">,
): Container {
  const { index } = files;
  const names = new NumberedFiles(index.length, nameSuffix(options.ext));
  const { length, cut } = index.whole;
  if (length === 0 && cut.length > 0) {
    throw index.faultOf(cut[0]!.first);
  }
  const isOne = files.sources.length + index.lost.length === 1;
  const kind = isOne ? "samples" : "samples in several files";
  const { checkData = true } = options;
  return {
    ...showFiles(files, names, kind, options),
    samples: new FFRecordSamples(files, checkData, true),
  };
}

export function showFiles(
  files: RecordFiles,
  names: NameTable | NumberedFiles,
  kind: string,
  { onWarning }: Pick<ContainerOptions, "onWarning">,
): Container {
  const { index, sources } = files;
  const mtime = sources.reduce((last, { mtime }) => Math.max(last, mtime), 0);
  const directories = names instanceof NameTable
    ? names.columns.directoryEntries.length - 1
    : 0;
  const tree = new FFRecordTree({ ...files, mtime }, names);
  const { notes } = tree;
  warnOfAll(noteLines(notes), onWarning);
  const { facts = {}, ...noted } = notedInfo(notes);
  return {
    tree,
    info: {
      format: "ffrecord",
      kind,
      files: names.length - 1 - directories,
      directories,
      bytes: sources.reduce((sum, { size }) => sum + size, 0),
      ...notes.length > 0 ? { facts, ...noted } : {},
      parts: index.shards.map(({ path, size }, i) => {
        const { first, end } = tree.whole.ranges[i]!;
        return { path, bytes: size, samples: end - first };
      }),
    },
  };
}

/** Rebuilds a shared tree in another thread, over the same tables but without sources. */
export function reopenTree(data: unknown): Tree {
  const { parts, mtime, names, suffix } = data as SeedData;
  const samples = { sources: [], index: new SampleIndex(parts), mtime };
  if (names !== undefined) {
    return new FFRecordTree(samples, new NameTable(names));
  }
  if (suffix !== undefined) {
    const { length } = samples.index;
    return new FFRecordTree(samples, new NumberedFiles(length, suffix));
  }
  throw new RecordfsError(
    "bad-handle",
    "Not a handle of an FFRecord tree",
  );
}
