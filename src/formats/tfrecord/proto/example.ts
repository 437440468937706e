import {
  numbersOf,
  scanExample,
  type ScannedExample,
  type ScannedFeature,
} from "./scan_example.ts";

/**
 * Values of a feature, always a list: `Uint8Array[]` of a `BytesList`, `Float32Array` of a `FloatList`, `BigInt64Array`
 * of an `Int64List`; an empty list if none is set.
 */
export type FeatureValue =
  | Uint8Array<ArrayBuffer>[]
  | Float32Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>;

/**
 * A TensorFlow `Example` or `SequenceExample`, by feature name. Of a `SequenceExample`, the features are those of its
 * context, and each feature list is a list of the values of its steps. A list with the name of a feature is called
 * `feature_lists/NAME`.
 */
export type TFExample = Readonly<
  Record<string, FeatureValue | readonly FeatureValue[]>
>;

/**
 * Decodes an example; bytes values are views into the record.
 *
 * @param names Names of the features to decode; all by default.
 * @throws {WireError} If it is not an example.
 */
export function decodeExample(
  bytes: Uint8Array<ArrayBuffer>,
  names?: readonly string[],
): TFExample {
  const scanned: ScannedExample = scanExample(bytes);
  const isWanted = (key: string) => names?.includes(key) ?? true;
  const example: Record<string, FeatureValue | FeatureValue[]> = Object.create(
    null,
  );
  for (const [key, feature] of scanned.features) {
    if (isWanted(key)) example[key] = valueOf(bytes, feature);
  }
  for (const [name, steps] of scanned.lists) {
    const key = scanned.features.has(name) ? `feature_lists/${name}` : name;
    if (!isWanted(key)) continue;
    example[key] = steps.map((step) => valueOf(bytes, step));
  }
  return example;
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
