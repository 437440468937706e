import {
  numbersOf,
  scanExample,
  type ScannedExample,
  type ScannedFeature,
} from "./scan_example.ts";

/**
 * The values of a feature, always a list: `Uint8Array[]` of a `BytesList`, `Float32Array` of a `FloatList`,
 * `BigInt64Array` of an `Int64List`; an empty list where nothing is set.
 */
export type FeatureValue =
  | Uint8Array<ArrayBuffer>[]
  | Float32Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>;

/** An `Example` of TensorFlow, or a `SequenceExample`, by the names of its features. */
export interface TFExample {
  /** The features; of a `SequenceExample` those of its context. */
  readonly features: Readonly<Record<string, FeatureValue>>;
  /** Of a `SequenceExample`: the values of each step; an `Example` has none. */
  readonly featureLists: Readonly<Record<string, readonly FeatureValue[]>>;
}

/**
 * Decodes an example; values of bytes are views into the record.
 *
 * @throws {WireError} If it is none.
 */
export function decodeExample(bytes: Uint8Array<ArrayBuffer>): TFExample {
  const scanned: ScannedExample = scanExample(bytes);
  const features: Record<string, FeatureValue> = Object.create(null);
  for (const [key, feature] of scanned.features) {
    features[key] = valueOf(bytes, feature);
  }
  const featureLists: Record<string, FeatureValue[]> = Object.create(null);
  for (const [key, steps] of scanned.lists) {
    featureLists[key] = steps.map((step) => valueOf(bytes, step));
  }
  return { features, featureLists };
}

function valueOf(
  bytes: Uint8Array<ArrayBuffer>,
  feature: ScannedFeature,
): FeatureValue {
  const { kind, ranges } = feature;
  if (kind === "float" || kind === "int64") return numbersOf(bytes, feature);
  const values: Uint8Array<ArrayBuffer>[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    values.push(bytes.subarray(ranges[i], ranges[i + 1]));
  }
  return values;
}
