import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { isMade, originOf } from "../storage/made_source.ts";
import { openedAt, type StoredFile } from "../storage/open_file.ts";
import type { Storage } from "../storage/storage.ts";
import { encodeIndexFile, nameInOrigin, type Section } from "./index_file.ts";
import { type KeptIndex, marksOf } from "./kept_index.ts";

const collectors = new WeakMap<Storage, IndexCollector>();

/** Returns the collector of the indexes of a source, if its storage has one. */
export function collectorOf(source: ByteSource): IndexCollector | undefined {
  const place = openedAt(originOf(source));
  return place && collectors.get(place.storage);
}

/** Indexes of one file, and of what is in it. */
export interface CollectedFile extends StoredFile {
  /** Number of all entries. */
  readonly entries: number;
  /** Number of indexes. */
  readonly count: number;
  /** Kinds of the indexes that cannot be written: they are damaged, or not compared when they are read. */
  readonly missing: readonly string[];
  /** Returns the parts of the index file. */
  encode(): Steps<Uint8Array[]>;
}

/** An index as it was made. */
interface Collected {
  readonly source: ByteSource;
  readonly kind: string;
  readonly entries: number;
  /** Returns its section; `undefined` if it cannot be written. */
  readonly section: () => Steps<Omit<Section, "bytes" | "length" | "start">>;
  readonly tables: ReturnType<KeptIndex<unknown>["tables"]>;
}

/** Indexes that were made while a container was opened. */
export class IndexCollector {
  /** By origin, and by kind and name in it. */
  readonly #files = new Map<ByteSource, Map<string, Collected>>();

  /** @param storage Storage of the container, which nobody else uses. */
  constructor(storage: Storage) {
    collectors.set(storage, this);
  }

  add<Index>(
    source: ByteSource,
    index: KeptIndex<Index>,
    made: Index,
  ): void {
    const origin = originOf(source);
    const indexes = this.#files.get(origin) ?? new Map<string, Collected>();
    this.#files.set(origin, indexes);
    const { kind } = index;
    const { size } = source;
    const name = nameInOrigin(source);
    indexes.set(JSON.stringify([kind, name, size]), {
      source,
      kind,
      entries: Math.floor(index.count(made)),
      tables: index.headerAt && (index.travels?.(made) ?? true)
        ? index.tables(made)
        : undefined,
      *section() {
        const marks = yield* marksOf(source, index, made);
        return { kind, name, size, marks };
      },
    });
  }

  /** Files with indexes, in the order in which they were opened. */
  get files(): CollectedFile[] {
    return [...this.#files].map(([origin, indexes]) => {
      const all = [...indexes.values()];
      return {
        ...openedAt(origin)!,
        count: all.length,
        // Of what was decompressed, those in it.
        entries: (all.findLast(({ source }) => isMade(source)) ?? all.at(-1)!)
          .entries,
        missing: all.filter(({ tables }) => tables === undefined)
          .map(({ kind }) => kind),
        encode: () => encode(origin, all),
      };
    });
  }
}

function* encode(
  origin: ByteSource,
  all: readonly Collected[],
): Steps<Uint8Array[]> {
  const sections = [];
  for (const { section, tables } of all) {
    if (tables === undefined) continue;
    sections.push({ ...yield* section(), tables });
  }
  return encodeIndexFile(origin, sections);
}
