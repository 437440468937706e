import { decodeName } from "../../../base/names.ts";

const DOT = 0x2e;

/** Field of a sample's key, named as in WebDataset. */
export const KEY = "__key__";

/**
 * Returns where the part of a filename starts that is specific to the file in its sample: after the first dot, or 0 if
 * that would leave nothing or only dots.
 */
export function suffixOf(name: Uint8Array, length: number): number {
  const dot = name.indexOf(DOT, 1);
  const rest = dot < 0 ? "" : decodeName(name, dot + 1, length);
  return /^\.{0,2}$/.test(rest) ? 0 : dot + 1;
}

/** Returns the common part of a sample's paths: up to the first dot of the last name. */
export function keyOfPath(path: string): string {
  const dot = path.indexOf(".", path.lastIndexOf("/") + 2);
  return dot < 0 ? path : path.slice(0, dot);
}
