import { decodeName } from "../../../base/names.ts";
import { trimSpace, utf8Text } from "../../../base/utf8.ts";
import {
  decodeFile,
  PORTABLE_DECODERS,
  SAMPLE_DECODERS,
  type SampleDecoders,
} from "../../../codecs/file_values.ts";
import {
  typeOfExtension,
  VALUE_TYPES,
} from "../../../codecs/values/value_type.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { LONGEST_NAME } from "../../../tree/names/name_table_builder.ts";
import { prefetchContents, readContents } from "../../../tree/read_contents.ts";
import { FieldUnion } from "../../../tree/samples/field_union.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "../../../tree/samples/samples.ts";
import type { LostShard } from "../../../tree/samples/open_shards.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import type { Extent } from "../../../tree/tree.ts";
import { type TarFacts, TarTree } from "../tree/tar_tree.ts";
import { KEY } from "./sample_keys.ts";
import { sampleCount } from "./tar_columns.ts";
import { TarFiles } from "./tar_files.ts";

/** A file of a sample. */
interface Part {
  /** Part of its name after the first dot; empty if there is none. */
  readonly extension: string;
  readonly file: number;
}

/** What other threads make the samples of. */
interface Seed {
  readonly tars: readonly TarFacts[];
  readonly lost: readonly LostShard[];
}

const DOT = 0x2e;

/** Samples examined before yielding. */
const PAGE = 1 << 12;

/**
 * The samples of WebDataset in tars: the contents of files with one key by their extensions, which are all behind the
 * first dot of the last name; and the key as `__key__`, such as `./p/0`.
 */
export class TarSamples implements Samples<SampleValues, SampleValues> {
  readonly unit = "sample";
  readonly fields = undefined;
  readonly stores = "fields";
  readonly shards: ShardTable<TarFacts>;
  readonly storage: Storage;
  readonly files: TarFiles;
  readonly #name = new Uint8Array(LONGEST_NAME);

  constructor(files: TarFiles) {
    this.files = files;
    this.storage = files.storage;
    this.shards = new ShardTable(
      files.table.shards,
      ({ columns }) => sampleCount(columns),
      files.table.lost,
    );
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<SampleValues[]> {
    const parts = indices.map((index) => this.#partsOf(index, fields));
    const bytes = yield* readContents(this.#contentsOf(parts), memory);
    let next = 0;
    return indices.map((index, i) => {
      const sample: Record<string, unknown> = Object.create(null);
      for (const { extension } of parts[i]!) sample[extension] = bytes[next++]!;
      return Object.assign(sample, { [KEY]: this.keyOf(index) });
    });
  }

  decode(index: number, sample: SampleValues): Promise<SampleValues> {
    return this.#decode(index, sample, SAMPLE_DECODERS);
  }

  /** Goes through the names of all files. */
  *portable(): Steps<PortableSamples<SampleValues>> {
    const { length, name } = this.shards;
    const union = new FieldUnion(name);
    union.add([{ name: KEY, type: VALUE_TYPES.text, isList: false }], length);
    const known = new Map<string, Field>();
    for (let index = 0; index < length; index++) {
      if (index % PAGE === 0) yield* perform(yieldWhenDue);
      const fields = this.#partsOf(index, undefined).map(({ extension }) => {
        const field = known.get(extension) ?? {
          name: extension,
          type: typeOfExtension(extension),
          isList: false,
        };
        known.set(extension, field);
        return field;
      });
      union.add(fields, 1);
    }
    return {
      fields: union.fields,
      missing: union.missing(length),
      isNullable: false,
      read: (indices, options) => this.read(indices, options),
      decode: (index, sample) => this.#decode(index, sample, PORTABLE_DECODERS),
    };
  }

  /** What the file with an extension says; a text without spaces around. */
  valueIn(sample: SampleValues, field: string): unknown {
    const value = sample[field];
    const text = value instanceof Uint8Array ? utf8Text(value) : value;
    return typeof text === "string" ? trimSpace(text) : text;
  }

  keyOf(index: number): string {
    const at = this.shards.shardOf(index);
    return this.files.trees[at]!.keyOf(index - this.shards.firsts[at]!);
  }

  prefetch(indices: readonly number[], { fields }: ReadSamplesOptions): number {
    const parts = indices.map((index) => this.#partsOf(index, fields));
    return prefetchContents(this.#contentsOf(parts));
  }

  share(): SamplesHandle {
    const data: Seed = {
      tars: this.shards.shards,
      lost: this.shards.lost,
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.files.close();
  }

  async #decode(
    index: number,
    sample: SampleValues,
    decoders: SampleDecoders,
  ): Promise<SampleValues> {
    const { path } = this.shards.of(index);
    const decoded: Record<string, unknown> = Object.create(null);
    for (const [extension, value] of Object.entries(sample)) {
      decoded[extension] = value instanceof Uint8Array
        ? await decodeFile(
          extension,
          value as Uint8Array<ArrayBuffer>,
          decoders,
          path,
          `'${sample[KEY]}.${extension}'`,
        )
        : value; // the key
    }
    return decoded;
  }

  /** Returns the files of a sample with the requested extensions. */
  #partsOf(sample: number, wanted: readonly string[] | undefined): Part[] {
    const at = this.shards.shardOf(sample);
    const tree = this.files.trees[at]!;
    const first = this.files.table.firsts[at]!;
    const { nodes, sampleRecords, sampleStarts } = tree.columns;
    const own = sample - this.shards.firsts[at]!;
    const parts: Part[] = [];
    for (let i = sampleStarts[own]!; i < sampleStarts[own + 1]!; i++) {
      const record = sampleRecords[i]!;
      const length = tree.nameOf(nodes[record]!, this.#name);
      const extension = extensionOf(this.#name, length);
      if (wanted === undefined || wanted.includes(extension)) {
        parts.push({ extension, file: first + record });
      }
    }
    return parts;
  }

  #contentsOf(parts: readonly (readonly Part[])[]) {
    const places = parts.flat();
    return {
      sources: this.files.sources,
      length: places.length,
      locate: (i: number, into: Extent) =>
        this.files.locate(places[i]!.file, into),
    };
  }
}

function extensionOf(name: Uint8Array, length: number): string {
  const dot = name.indexOf(DOT, 1);
  return dot < 0 || dot >= length ? "" : decodeName(name, dot + 1, length);
}

/** Opens tars that another thread has opened, sharing its tables. */
export function* reopenSamples(
  { tars, lost }: Seed,
  storage: Storage,
): Steps<TarSamples> {
  const sources = yield* reopenSources(storage, tars);
  const trees = tars.map((facts, i) =>
    new TarTree(facts, { archive: sources[i]!, storage })
  );
  return new TarSamples(new TarFiles(trees, storage, lost));
}
