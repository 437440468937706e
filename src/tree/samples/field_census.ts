import type { ExactJson } from "../../codecs/json/value.ts";
import type { Members } from "../../codecs/rows/decode_row.ts";
import {
  ALL_KINDS,
  kindOfCell,
  kindOfJson,
  typeOfKinds,
} from "../../codecs/values/value_kinds.ts";
import type { ValueType } from "../../codecs/values/value_type.ts";
import type { Field } from "./samples.ts";

/** Limits of fields that samples name themselves: their number, and the length of their names in all. */
const MOST_FIELDS = 10_000;
const LONGEST_NAMES = 1 << 20;

/** A field: the kinds of its values, and how many samples have it. */
type FieldCount = [name: string, kinds: number, samples: number];

/** What is known of the samples of a file that declares no types. Plain data, for index caches. */
export interface CountedFile {
  /** In order of first occurrence; `null` if they are too many. */
  readonly fields: readonly FieldCount[] | null;
  /** Number of samples that were counted: those that can be decoded. */
  readonly sound: number;
  /** Sentences about oddities. */
  readonly notes: readonly string[];
}

/** Counts the fields of the samples of a file. */
export class FieldCensus {
  readonly #fields = new Map<string, FieldCount>();
  /** Kinds of the cells of each column. */
  readonly #columns: number[] = [];
  #length = 0;
  #isFull = false;
  #sound = 0;

  /** Counts a sample: its members, or its cells, whose names follow at the end. */
  add(sample: Members | readonly string[]): void {
    this.#sound++;
    const columns = this.#columns;
    for (let i = 0; i < sample.length; i++) {
      const one = sample[i]!;
      if (typeof one === "string") {
        columns[i] = (columns[i] ?? 0) | kindOfCell(one, columns[i]);
      } else if (this.#hasRoom(one[0])) {
        addTo(this.#fields, one[0], kindOfJson(one[1]), 1);
      }
    }
  }

  /**
   * Returns what was counted.
   *
   * @param names Names of the columns, if samples are cells.
   * @param samples Number of all samples, with those that cannot be decoded.
   * @param fault Why the first of these cannot.
   */
  finish(
    { names, notes }: Pick<CountedFile, "notes"> & {
      readonly names: readonly string[];
    },
    samples: number,
    fault: string | undefined,
  ): CountedFile {
    const sound = this.#sound;
    for (const [i, name] of names.entries()) {
      addTo(this.#fields, name, this.#columns[i] ?? 0, sound);
    }
    const faults = samples - sound;
    const note = `${faults} of ${samples} cannot be decoded: ${fault}`;
    return {
      fields: this.#isFull ? null : [...this.#fields.values()],
      sound,
      notes: faults > 0 ? [...notes, note] : notes,
    };
  }

  #hasRoom(name: string): boolean {
    if (this.#isFull || this.#fields.has(name)) return !this.#isFull;
    this.#length += name.length;
    this.#isFull = this.#fields.size === MOST_FIELDS ||
      this.#length > LONGEST_NAMES;
    return !this.#isFull;
  }
}

function addTo(
  fields: Map<string, FieldCount>,
  name: string,
  kinds: number,
  samples: number,
): void {
  const field = fields.get(name);
  if (field === undefined) fields.set(name, [name, kinds, samples]);
  else {
    field[1] |= kinds;
    field[2] += samples;
  }
}

/** Whether cached data is that of a file: it is not trusted. */
export function isCountedFile(data: unknown): data is CountedFile {
  const { fields, sound, notes } = (data ?? {}) as CountedFile;
  const isCount = (count: unknown) =>
    Array.isArray(count) && typeof count[0] === "string" &&
    Number.isInteger(count[1]) && count[1] >= 0 && count[1] <= ALL_KINDS &&
    Number.isSafeInteger(count[2]);
  return (fields === null || Array.isArray(fields) && fields.every(isCount)) &&
    Number.isSafeInteger(sound) && Array.isArray(notes) &&
    notes.every((note) => typeof note === "string");
}

/** Fields that were counted in several files. */
export class CountedFields {
  /** Fields that any sample has; `undefined` if they are too many. */
  readonly all: readonly Field[] | undefined;
  /** Fields of all samples; `undefined` if samples have others. */
  readonly shared: readonly Field[] | undefined;
  /** Number of samples that lack each field. */
  readonly missing: ReadonlyMap<string, number>;
  readonly #types: ReadonlyMap<string, ValueType>;

  constructor(files: readonly CountedFile[]) {
    const counts = new Map<string, FieldCount>();
    let samples = 0;
    for (const { fields, sound } of files) {
      for (const count of fields ?? []) addTo(counts, ...count);
      samples += sound;
    }
    const all = [...counts.values()].map(([name, kinds]) => ({
      name,
      type: typeOfKinds(kinds),
      isList: false,
    }));
    const areKnown = files.every(({ fields }) => fields !== null);
    const areShared = counts.values().every(([, , count]) => count === samples);
    this.all = areKnown ? all : undefined;
    this.shared = areKnown && areShared && all.length > 0 ? all : undefined;
    this.missing = new Map(
      counts.values().map(([name, , count]) => [name, samples - count]),
    );
    this.#types = new Map(
      areKnown ? all.map(({ name, type }) => [name, type]) : [],
    );
  }

  /** Returns the type of a field: that of all its values, or of this one if the fields are too many. */
  typeOf(name: string, value: ExactJson): ValueType {
    return this.#types.get(name) ?? typeOfKinds(kindOfJson(value));
  }
}
