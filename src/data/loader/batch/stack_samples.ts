import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray, NumericArray } from "../../../codecs/numpy/nd_array.ts";
import type { BatchMemory } from "../../batch_memory.ts";
import {
  arrayOfImage,
  arrayOfNumbers,
  cannotStack,
  stackArrays,
  stackNumbers,
} from "./stack_arrays.ts";

/**
 * Stacks samples to a batch, as `Collated` describes. Writes numbers to `memory`, so that each is copied once.
 *
 * @throws {DataError} With code `bad-batch` if they differ in kind, shape, type, length or keys.
 */
export function stackSamples(
  samples: readonly unknown[],
  memory: BatchMemory,
  where = "samples",
): unknown {
  switch (commonKind(samples, where)) {
    case "a number":
      return stackNumbers(samples as number[], memory);
    case "a typed array":
      return stackArrays(
        (samples as NumericArray[]).map(arrayOfNumbers),
        memory,
        where,
      );
    case "an array":
      return stackArrays(samples as NdArray[], memory, where);
    case "an image":
      return stackArrays((samples as Image[]).map(arrayOfImage), memory, where);
    case "a list":
      return stackLists(samples as unknown[][], memory, where);
    case "an object":
      return stackObjects(samples as Record<string, unknown>[], memory, where);
    case "a bigint":
      return (samples as (number | bigint)[]).map(BigInt);
    case "bytes":
    case "a single value":
      return [...samples];
  }
}

function commonKind(samples: readonly unknown[], where: string): SampleKind {
  const kind = kindOf(samples[0]);
  const other = samples.findIndex((sample) => kindOf(sample) !== kind);
  if (other < 0) return kind;
  // A column of whole numbers has both kinds, depending on their size.
  const areWhole = samples.every((sample) =>
    typeof sample === "bigint" || Number.isSafeInteger(sample)
  );
  if (areWhole) return "a bigint";
  throw cannotStack(
    where,
    `the first is ${kind} and number ${other} is ${kindOf(samples[other])}`,
  );
}

function stackLists(
  lists: readonly (readonly unknown[])[],
  memory: BatchMemory,
  where: string,
): unknown[] {
  const { length } = lists[0]!;
  const other = lists.findIndex((list) => list.length !== length);
  if (other >= 0) {
    throw cannotStack(
      where,
      `the first has ${length} entries and number ${other} has ` +
        `${lists[other]!.length}`,
    );
  }
  return Array.from(
    { length },
    (_, place) =>
      stackSamples(
        lists.map((list) => list[place]),
        memory,
        `${where}[${place}]`,
      ),
  );
}

function stackObjects(
  objects: readonly Record<string, unknown>[],
  memory: BatchMemory,
  where: string,
): Record<string, unknown> {
  const keys = Object.keys(objects[0]!);
  const other = objects.findIndex((object) =>
    Object.keys(object).length !== keys.length ||
    keys.some((key) => !Object.hasOwn(object, key))
  );
  if (other >= 0) {
    throw cannotStack(
      where,
      `the first has the keys ${keys.join(", ")} and number ${other} has ` +
        Object.keys(objects[other]!).join(", "),
    );
  }
  return Object.fromEntries(
    keys.map((key) => [
      key,
      stackSamples(
        objects.map((object) => object[key]),
        memory,
        `${where}.${key}`,
      ),
    ]),
  );
}

type SampleKind =
  | "a number"
  | "a bigint"
  | "bytes"
  | "a typed array"
  | "an array"
  | "an image"
  | "a list"
  | "an object"
  | "a single value";

function kindOf(value: unknown): SampleKind {
  if (typeof value === "number") return "a number";
  if (typeof value === "bigint") return "a bigint";
  if (typeof value !== "object" || value === null) return "a single value";
  if (Array.isArray(value)) return "a list";
  if (ArrayBuffer.isView(value)) {
    const isBytes = value instanceof Uint8Array ||
      value instanceof Uint8ClampedArray;
    if (isBytes) return "bytes";
    return value instanceof DataView ? "a single value" : "a typed array";
  }
  if (isArray(value)) return "an array";
  if (isImage(value)) return "an image";
  return OPAQUE.some((type) => value instanceof type)
    ? "a single value"
    : "an object";
}

const OPAQUE = [
  Date,
  RegExp,
  Error,
  Map,
  Set,
  ArrayBuffer,
  SharedArrayBuffer,
] as const;

function isArray(value: object): value is NdArray {
  const { dtype, shape, data } = value as Partial<NdArray>;
  return typeof dtype === "string" && Array.isArray(shape) &&
    (ArrayBuffer.isView(data) || Array.isArray(data)) &&
    Object.keys(value).length === 3; // further fields would be lost
}

function isImage(value: object): value is Image {
  const { data, height, width, channels } = value as Partial<Image>;
  return data instanceof Uint8Array && typeof height === "number" &&
    typeof width === "number" && typeof channels === "number" &&
    Object.keys(value).length === 4;
}
