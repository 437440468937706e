import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray, NumericArray } from "../../../codecs/numpy/nd_array.ts";
import type { BatchMemory } from "../../batch_memory.ts";
import { cannotStack } from "./cannot_stack.ts";
import { kindOf, type SampleKind } from "./sample_kind.ts";
import {
  arrayOfImage,
  arrayOfNumbers,
  stackArrays,
  stackNumbers,
} from "./stack_arrays.ts";

/**
 * Stacks samples to a batch, as `Collated` says.
 *
 * @param memory What numbers are written to, so that each is copied once.
 * @param where What the samples are, for messages.
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
    case "bytes":
    case "a single value":
      return [...samples];
  }
}

function commonKind(samples: readonly unknown[], where: string): SampleKind {
  const kind = kindOf(samples[0]);
  const other = samples.findIndex((sample) => kindOf(sample) !== kind);
  if (other < 0) return kind;
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
