import { decodeName } from "../../../base/names.ts";

const DOT = 0x2e;

/** What a sample's key is called among its files, as WebDataset calls it. */
export const KEY = "__key__";

/**
 * Where in a file's name what tells it from others of its sample begins: behind the first dot; the name itself where
 * nothing or only dots would be left.
 */
export function suffixOf(name: Uint8Array, length: number): number {
  const dot = name.indexOf(DOT, 1);
  const rest = dot < 0 ? "" : decodeName(name, dot + 1, length);
  return /^\.{0,2}$/.test(rest) ? 0 : dot + 1;
}

/** What the paths of a sample's files have in common: up to the first dot of the last name. */
export function keyOfPath(path: string): string {
  const dot = path.indexOf(".", path.lastIndexOf("/") + 2);
  return dot < 0 ? path : path.slice(0, dot);
}
