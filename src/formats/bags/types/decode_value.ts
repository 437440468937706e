import type { Generation } from "../dataset/dataset_names.ts";
import { decodersOf } from "./mod.ts";

export function decodeValue(
  bytes: Uint8Array<ArrayBuffer>,
  generation: Generation,
  name: string,
  args: readonly string[],
): unknown {
  return decodersOf(generation)[name]!(bytes, ...args);
}
