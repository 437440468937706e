/** The TFRecord files that a writer independent of ours made by the specification, and the values that it wrote. */
import type { FeatureValue } from "../../../src/formats/tfrecord/proto/example.ts";
import { goldenSet } from "../golden.ts";

/** A record as `expect.json` describes it. */
export interface ExpectedRecord {
  readonly file: string;
  readonly offset: number;
  readonly size: number;
  readonly sha256: string;
}

/** A feature as `expect.json` describes it: bytes in hex, integers as text. */
export interface ExpectedFeature {
  readonly kind: "bytes" | "float" | "int64";
  readonly values: readonly (string | number)[];
}

/** An example as `expect.json` describes it. */
export interface ExpectedExample {
  readonly features: Readonly<Record<string, ExpectedFeature>>;
  readonly lists: Readonly<Record<string, readonly ExpectedFeature[]>>;
}

/** `expect.json` of one case. */
export interface TFRecordCase {
  readonly name: string;
  /** Path of the file, or of the directory of shards. */
  readonly path: string;
  readonly content: {
    readonly records: readonly ExpectedRecord[];
    readonly examples?: readonly ExpectedExample[];
  };
}

const GOLDENS = goldenSet<TFRecordCase>("tfrecord");

/** Reads one case. */
export const tfrecordCase = GOLDENS.one;

/** Reads all cases. */
export const tfrecordCases = GOLDENS.all;

/** Returns the values that a reader must return for a feature. */
export function valueOf({ kind, values }: ExpectedFeature): FeatureValue {
  if (kind === "float") return Float32Array.from(values, Number);
  if (kind === "int64") return BigInt64Array.from(values, BigInt);
  return values.map((hex) => Uint8Array.fromHex(String(hex)));
}
