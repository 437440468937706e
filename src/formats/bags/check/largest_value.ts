import type { ValueType } from "../dataset/spec.ts";

/** For values that become objects: those of one byte each take a hundred times as much memory. */
const LARGEST_OF_OBJECTS = 16 * 1024 * 1024;

/** For all others: decoding takes a few times their size. */
const LARGEST = 2 ** 30;

/** Types whose values become objects, any number of them. */
const OF_OBJECTS = ["arraytree", "msgpack", "tree"];

/**
 * Bytes of the largest value of a type that is decoded where nobody asked for that very value: a process
 * that serves or checks must not end because memory does.
 */
export function largestValue({ name }: ValueType): number {
  return OF_OBJECTS.includes(name) ? LARGEST_OF_OBJECTS : LARGEST;
}
