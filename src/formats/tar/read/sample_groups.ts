import { decodeName } from "../../../base/names.ts";
import type { PathEntries } from "../../../tree/archive/path_entries.ts";
import { ROOT_ENTRY } from "../../../tree/archive/path_entries.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { ExtensionCounts } from "./extension_counts.ts";

const DOT = 0x2e;
const UNDERSCORE = 0x5f;

/** What a tar's names tell about samples. Plain data, cached with the index. */
export interface GroupFacts {
  /** Number of files relevant for detection: all but hidden ones and metadata. */
  readonly counted: number;
  /** Number of files in samples of two files or more. */
  readonly joined: number;
  /** Number of samples whose files are not adjacent in the tar. */
  readonly apart: number;
  /** Last part of the first such sample's key. */
  readonly firstApart?: string | undefined;
  /** The first extensions, with the number of samples that have each. */
  readonly extensions: readonly (readonly [string, number])[];
}

export interface SampleGroups {
  /** Records of all samples, sample by sample, each in the order of its entries. */
  readonly sampleRecords: Uint32Array;
  /** Per sample, plus one: where its records start. */
  readonly sampleStarts: Uint32Array;
  /** Per sample: index of its first file. */
  readonly firstFiles: Uint32Array;
  /** All entries but the root, with those of a sample adjacent; `undefined` if they already are. */
  readonly order: Uint32Array | undefined;
  readonly facts: GroupFacts;
}

export interface FilesToGather {
  readonly paths: PathEntries;
  readonly entries: Uint32Array;
  readonly records: Uint32Array;
  /** Whether the tar's spelling of a file's directory differs from its path. */
  isRespelled(file: number): boolean;
}

/**
 * Groups files into samples, as WebDataset does: files of one directory whose names are equal up to the first dot.
 * Names without a dot, hidden names and metadata (`__NAME__`, at the start of a path) belong to no sample.
 */
export function gatherSamples(files: FilesToGather): SampleGroups {
  const gathering = new Gathering(files);
  for (let file = 0; file < files.entries.length; file++) gathering.add(file);
  return gathering.finish();
}

class Gathering {
  readonly #files: FilesToGather;
  readonly #paths: PathEntries;
  readonly #names: Uint8Array;
  /** Per file: its sample plus 1, or 0. */
  readonly #sampleOf: Uint32Array;
  readonly #firstFiles: Uint32Array;
  readonly #keyLengths: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #extensions: ExtensionCounts;
  /** Hash table of samples by key: sample plus 1, or 0. */
  #slots = new Uint32Array(1 << 10);
  #samples = 0;
  #counted = 0;
  #apart = new Set<number>();
  /** Sample of the previous file, and its position there. */
  #current = -1;
  #position = 0;
  /** Directory checked last, and whether it is metadata. */
  #directory = ROOT_ENTRY;
  #isMeta = false;

  constructor(files: FilesToGather) {
    const { paths, entries } = files;
    this.#files = files;
    this.#paths = paths;
    this.#names = paths.names;
    this.#sampleOf = new Uint32Array(entries.length);
    this.#firstFiles = new Uint32Array(entries.length);
    this.#keyLengths = new Uint32Array(entries.length);
    this.#counts = new Uint32Array(entries.length);
    this.#extensions = new ExtensionCounts(paths);
  }

  add(file: number): void {
    const paths = this.#paths;
    const entry = this.#files.entries[file]!;
    const [start, end] = [paths.starts.at(entry), paths.ends.at(entry)];
    const names = this.#names;
    let dot = start;
    while (dot < end && names[dot] !== DOT) dot++;
    if (dot === start || this.#isMetaData(file, entry, start, end)) return;
    this.#counted++;
    if (dot === end) return;
    const parent = paths.parents.at(entry);
    const length = dot - start;
    if (!this.#hasKey(this.#current, parent, start, length)) {
      const before = this.#samples;
      this.#current = this.#find(file, parent, start, length);
      this.#position = 0;
      if (this.#current < before) this.#apart.add(this.#current);
    }
    this.#sampleOf[file] = this.#current + 1;
    this.#counts[this.#current]!++;
    this.#extensions.add(this.#position++, dot + 1, end);
  }

  finish(): SampleGroups {
    const { entries, records } = this.#files;
    const samples = this.#samples;
    const counts = this.#counts;
    const sampleStarts = sharedUint32(samples + 1);
    let joined = 0;
    for (let sample = 0; sample < samples; sample++) {
      const count = counts[sample]!;
      sampleStarts[sample + 1] = sampleStarts[sample]! + count;
      if (count > 1) joined += count;
    }
    // Sorted by entries: a file that was overwritten keeps its entry.
    const gathered = new Uint32Array(sampleStarts[samples]!);
    const next = sampleStarts.slice();
    this.#sampleOf.forEach((sample, file) => {
      if (sample > 0) gathered[next[sample - 1]!++] = file;
    });
    let areNeighbours = true;
    for (let sample = 0; sample < samples; sample++) {
      const [from, to] = [sampleStarts[sample]!, sampleStarts[sample + 1]!];
      const isInOrder = (at: number) =>
        entries[gathered[at]!]! === entries[gathered[at - 1]!]! + 1;
      let at = from + 1;
      while (at < to && isInOrder(at)) at++;
      if (at >= to) continue;
      gathered.subarray(from, to).sort((a, b) => entries[a]! - entries[b]!);
      for (at = from + 1; at < to; at++) {
        if (!isInOrder(at)) areNeighbours = false;
      }
    }
    const [firstApart] = this.#apart;
    return {
      sampleRecords: sharedUint32(gathered.map((file) => records[file]!)),
      sampleStarts,
      firstFiles: this.#firstFiles.subarray(0, samples),
      order: areNeighbours ? undefined : this.#order(gathered, sampleStarts),
      facts: {
        counted: this.#counted,
        joined,
        apart: this.#apart.size,
        firstApart: firstApart === undefined
          ? undefined
          : this.#keyName(firstApart),
        extensions: this.#extensions.list(),
      },
    };
  }

  /** Returns all entries, with those of a sample directly after its first. */
  #order(gathered: Uint32Array, starts: Uint32Array): Uint32Array {
    const { entries } = this.#files;
    const { length } = this.#paths;
    const sampleOf = new Uint32Array(length);
    this.#sampleOf.forEach((sample, file) => {
      sampleOf[entries[file]!] = sample;
    });
    const order = new Uint32Array(length - 1);
    let count = 0;
    for (let entry = 1; entry < length; entry++) {
      const sample = sampleOf[entry]!;
      if (sample === 0) {
        order[count++] = entry;
        continue;
      }
      const start = starts[sample - 1]!;
      if (entries[gathered[start]!] !== entry) continue; // not its first
      for (let at = start; at < starts[sample]!; at++) {
        order[count++] = entries[gathered[at]!]!;
      }
    }
    return order;
  }

  /** Finds the sample of a key, or creates it with this file. */
  #find(file: number, parent: number, start: number, length: number): number {
    if (2 * this.#samples >= this.#slots.length) this.#grow();
    const slot = this.#slotOf(parent, start, length);
    const found = this.#slots[slot]!;
    if (found > 0) return found - 1;
    const sample = this.#samples++;
    this.#slots[slot] = sample + 1;
    this.#firstFiles[sample] = file;
    this.#keyLengths[sample] = length;
    return sample;
  }

  /** Returns the slot of a key's sample, or a free one. */
  #slotOf(parent: number, start: number, length: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = this.#paths.hash(parent, start, start + length) & mask;
    while (
      slots[slot]! > 0 &&
      !this.#hasKey(slots[slot]! - 1, parent, start, length)
    ) slot = slot + 1 & mask;
    return slot;
  }

  #grow(): void {
    const paths = this.#paths;
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let sample = 0; sample < this.#samples; sample++) {
      const entry = this.#files.entries[this.#firstFiles[sample]!]!;
      const slot = this.#slotOf(
        paths.parents.at(entry),
        paths.starts.at(entry),
        this.#keyLengths[sample]!,
      );
      this.#slots[slot] = sample + 1;
    }
  }

  #hasKey(
    sample: number,
    parent: number,
    start: number,
    length: number,
  ): boolean {
    if (sample < 0 || this.#keyLengths[sample] !== length) return false;
    const paths = this.#paths;
    const first = this.#files.entries[this.#firstFiles[sample]!]!;
    return paths.parents.at(first) === parent &&
      paths.startAlike(start, paths.starts.at(first), length);
  }

  #keyName(sample: number): string {
    const entry = this.#files.entries[this.#firstFiles[sample]!]!;
    const start = this.#paths.starts.at(entry);
    return decodeName(this.#names, start, start + this.#keyLengths[sample]!);
  }

  /** Whether WebDataset treats a file as metadata: its name, or that of its topmost directory, is `__NAME__`. */
  #isMetaData(
    file: number,
    entry: number,
    start: number,
    end: number,
  ): boolean {
    const paths = this.#paths;
    const parent = paths.parents.at(entry);
    if (parent === ROOT_ENTRY) {
      return this.#isMetaName(start, end) && !this.#files.isRespelled(file);
    }
    if (parent !== this.#directory) {
      this.#directory = parent;
      let top = parent;
      for (
        let above = paths.parents.at(top);
        above !== ROOT_ENTRY;
        above = paths.parents.at(top)
      ) top = above;
      this.#isMeta = this.#isMetaName(
        paths.starts.at(top),
        paths.ends.at(top),
      );
    }
    return this.#isMeta && !this.#files.isRespelled(file);
  }

  #isMetaName(start: number, end: number): boolean {
    const names = this.#names;
    return end - start >= 4 && names[start] === UNDERSCORE &&
      names[start + 1] === UNDERSCORE && names[end - 1] === UNDERSCORE &&
      names[end - 2] === UNDERSCORE;
  }
}
