import type { ValueType } from "../../codecs/values/value_type.ts";
import type { ExactJson } from "../../codecs/json/value.ts";
import {
  ALL_KINDS,
  kindOfCell,
  kindOfJson,
  typeOfKinds,
} from "../../codecs/values/value_kinds.ts";
import type { Members } from "../../codecs/rows/decode_row.ts";
import type { Field } from "./samples.ts";

/** Limits of the names of fields: their number, and their length in all. */
const MOST_FIELDS = 10_000;
const LONGEST_NAMES = 1 << 20;

/** A field: the kinds of its values, and how many samples have it. Plain data, for index caches. */
export type FieldCount = [name: string, kinds: number, samples: number];

/** Counts the fields of samples that declare none. */
export class FieldCensus {
  readonly #fields = new Map<string, FieldCount>();
  /** Kinds of the cells of each column. */
  readonly #columns: number[] = [];
  #length = 0;
  #isFull = false;

  /** Counts a field of one sample, or of several. */
  addField(name: string, kinds: number, samples = 1): void {
    const field = this.#fields.get(name) ?? this.#new(name);
    if (field === undefined) return;
    field[1] |= kinds;
    field[2] += samples;
  }

  /** Counts the fields of a sample; of cells, {@linkcode FieldCensus.nameColumns} tells the names. */
  add(sample: Members | readonly string[]): void {
    const columns = this.#columns;
    for (let i = 0; i < sample.length; i++) {
      const one = sample[i]!;
      if (typeof one !== "string") this.addField(one[0], kindOfJson(one[1]));
      else columns[i] = (columns[i] ?? 0) | kindOfCell(one, columns[i]);
    }
  }

  /** Names the columns whose cells were counted in so many rows. */
  nameColumns(names: readonly string[], rows: number): void {
    for (const [i, name] of names.entries()) {
      this.addField(name, this.#columns[i] ?? 0, rows);
    }
  }

  /** Fields in order of first occurrence; `null` if they are too many. */
  get counts(): readonly FieldCount[] | null {
    return this.#isFull ? null : [...this.#fields.values()];
  }

  #new(name: string): FieldCount | undefined {
    this.#length += name.length;
    this.#isFull ||= this.#fields.size === MOST_FIELDS ||
      this.#length > LONGEST_NAMES;
    if (this.#isFull) return undefined;
    const field: FieldCount = [name, 0, 0];
    this.#fields.set(name, field);
    return field;
  }
}

/** Whether cached data is the result of a census. */
export function areCounts(data: unknown): data is FieldCensus["counts"] {
  const isCount = (count: unknown) =>
    Array.isArray(count) && typeof count[0] === "string" &&
    Number.isInteger(count[1]) && count[1] >= 0 && count[1] <= ALL_KINDS &&
    Number.isSafeInteger(count[2]);
  return data === null || Array.isArray(data) && data.every(isCount);
}

/** What was counted in a file. */
export interface CountedFile {
  readonly fields: FieldCensus["counts"];
  /** Number of samples that were counted: those that can be decoded. */
  readonly sound: number;
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
    const census = new FieldCensus();
    let samples = 0;
    for (const { fields, sound } of files) {
      for (const count of fields ?? []) census.addField(...count);
      samples += sound;
    }
    const isFull = files.some(({ fields }) => fields === null);
    const counts = isFull ? null : census.counts;
    this.all = counts?.map(([name, kinds]) => ({
      name,
      type: typeOfKinds(kinds),
      isList: false,
    }));
    this.#types = new Map(this.all?.map(({ name, type }) => [name, type]));
    this.missing = new Map(
      counts?.map(([name, , count]) => [name, samples - count]),
    );
    const isShared = this.missing.values().every((count) => count === 0);
    this.shared = isShared && this.all?.length !== 0 ? this.all : undefined;
  }

  /** Returns the type of a field: that of all its values, or of this one if the fields are too many. */
  typeOf(name: string, value: ExactJson): ValueType {
    return this.#types.get(name) ?? typeOfKinds(kindOfJson(value));
  }
}
