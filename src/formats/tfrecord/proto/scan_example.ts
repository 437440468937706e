import { viewOf } from "../../../base/view_of.ts";
import { decodeName } from "../../../base/names.ts";
import {
  BYTES,
  countVarints,
  decodeVarints,
  FIXED32,
  VARINT,
  WireError,
  WireFields,
} from "./wire.ts";

/** Limits per example: features, steps of all lists, and ranges of values. */
const MOST_FEATURES = 1 << 16;
const MOST_STEPS = 1 << 17;
const MOST_VALUES = 1 << 20;

/** Type of a feature's list; `nothing` if its writer has set none. */
export type FeatureKind = "bytes" | "float" | "int64" | "nothing";

/** A feature, with the locations of its values in the record. */
export interface ScannedFeature {
  readonly kind: FeatureKind;
  /** Starts and ends, alternating: a range per bytes value, or per run of one or more numbers. */
  readonly ranges: readonly number[];
}

/** An `Example`, or a `SequenceExample`, which also has lists of features. */
export interface ScannedExample {
  readonly isSequence: boolean;
  readonly features: ReadonlyMap<string, ScannedFeature>;
  readonly lists: ReadonlyMap<string, readonly ScannedFeature[]>;
  /** Whether it has fields that neither message defines. */
  readonly hasOthers: boolean;
}

/** Field numbers of example.proto and feature.proto. */
const FEATURES = 1;
const FEATURE_LISTS = 2;
const ENTRY = 1;
const KEY = 1;
const VALUE = 2;
const KINDS: readonly (FeatureKind | undefined)[] = [
  ...[undefined, "bytes", "float", "int64"] as const,
];

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the features of an `Example` or `SequenceExample`; reads only the bytes before and between values. Throws
 * WireError if it is neither, or exceeds a limit.
 */
export function scanExample(bytes: Uint8Array): ScannedExample {
  return new ExampleScan(bytes).run();
}

class ExampleScan {
  readonly #bytes: Uint8Array;
  #features = 0;
  #steps = 0;
  #values = 0;
  #hasOthers = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  run(): ScannedExample {
    const features = new Map<string, ScannedFeature>();
    const lists = new Map<string, readonly ScannedFeature[]>();
    let isSequence = false;
    for (const [field, range] of this.#messages(this.#whole())) {
      if (field === FEATURES) {
        this.#entries(range, (key, value) => {
          features.set(key, this.#feature(value));
        });
      } else if (field === FEATURE_LISTS) {
        isSequence = true;
        this.#entries(range, (key, value) => {
          lists.set(key, this.#list(value));
        });
      } else this.#hasOthers = true;
    }
    return { isSequence, features, lists, hasOthers: this.#hasOthers };
  }

  #whole(): Range[] {
    return [{ start: 0, end: this.#bytes.length }];
  }

  /** Yields the field numbers and ranges of messages in a message given in pieces. */
  *#messages(pieces: readonly Range[]): Generator<[number, Range]> {
    for (const { start, end } of pieces) {
      const fields = new WireFields(this.#bytes, start, end);
      while (fields.next()) {
        const { field, type, start, end } = fields;
        if (type === BYTES) yield [field, { start, end }];
        else this.#hasOthers = true;
      }
    }
  }

  /** Reads the entries of a map; the last of repeated keys wins. */
  #entries(map: Range, take: (key: string, value: Range[]) => void): void {
    for (const [field, entry] of this.#messages([map])) {
      if (field !== ENTRY) {
        this.#hasOthers = true;
        continue;
      }
      if (++this.#features > MOST_FEATURES) {
        throw tooMany("features", MOST_FEATURES);
      }
      let key = "";
      const value: Range[] = [];
      for (const [field, range] of this.#messages([entry])) {
        if (field === KEY) {
          key = decodeName(this.#bytes, range.start, range.end);
        } else if (field === VALUE) value.push(range);
        else this.#hasOthers = true;
      }
      take(key, value);
    }
  }

  #list(pieces: readonly Range[]): ScannedFeature[] {
    const steps: ScannedFeature[] = [];
    for (const [field, range] of this.#messages(pieces)) {
      if (field !== ENTRY) {
        this.#hasOthers = true;
        continue;
      }
      if (++this.#steps > MOST_STEPS) throw tooMany("steps", MOST_STEPS);
      steps.push(this.#feature([range]));
    }
    return steps;
  }

  /** Reads a feature: its last kind of list, of which all pieces count. */
  #feature(pieces: readonly Range[]): ScannedFeature {
    let kind: FeatureKind = "nothing";
    let lists: Range[] = [];
    for (const [field, range] of this.#messages(pieces)) {
      const own = KINDS[field];
      if (own === undefined) {
        this.#hasOthers = true;
        continue;
      }
      if (own !== kind) lists = [];
      kind = own;
      lists.push(range);
    }
    const ranges: number[] = [];
    for (const { start, end } of lists) {
      this.#addValues(kind, start, end, ranges);
    }
    return { kind, ranges };
  }

  #addValues(
    kind: FeatureKind,
    start: number,
    end: number,
    ranges: number[],
  ): void {
    const single = kind === "float" ? FIXED32 : VARINT;
    const fields = new WireFields(this.#bytes, start, end);
    while (fields.next()) {
      const { field, type, start, end } = fields;
      const fits = type === BYTES || kind !== "bytes" && type === single;
      if (field !== ENTRY || !fits) {
        this.#hasOthers = true;
        continue;
      }
      if (kind === "float" && (end - start) % 4 !== 0) {
        throw new WireError(`floats in ${end - start} bytes at byte ${start}`);
      }
      if (++this.#values > MOST_VALUES) throw tooMany("values", MOST_VALUES);
      ranges.push(start, end);
    }
  }
}

function tooMany(what: string, most: number): WireError {
  return new WireError(`more than ${most} ${what}`);
}

export function valueCount(
  bytes: Uint8Array,
  { kind, ranges }: ScannedFeature,
): number {
  if (kind === "bytes" || kind === "nothing") return ranges.length / 2;
  let count = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    const [start, end] = [ranges[i]!, ranges[i + 1]!];
    count += kind === "float"
      ? (end - start) / 4
      : countVarints(bytes, start, end);
  }
  return count;
}

/** Decodes the numbers of a feature; throws WireError if an integer does not end. */
export function numbersOf(
  bytes: Uint8Array,
  feature: ScannedFeature,
): Float32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer> {
  const { kind, ranges } = feature;
  const count = valueCount(bytes, feature);
  const numbers = kind === "float"
    ? new Float32Array(count)
    : new BigInt64Array(count);
  const words = new DataView(numbers.buffer);
  const view = viewOf(bytes);
  let at = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    const [start, end] = [ranges[i]!, ranges[i + 1]!];
    if (kind === "float") {
      for (let k = start; k < end; k += 4) {
        words.setUint32(4 * at++, view.getUint32(k, true), true);
      }
      continue;
    }
    decodeVarints(bytes, start, end, words, at);
    at += countVarints(bytes, start, end);
  }
  return numbers;
}
