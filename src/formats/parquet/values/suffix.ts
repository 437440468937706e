import { utf8Text } from "../../../base/utf8.ts";

/** Longest ending of a path that is taken for a suffix, with its dot. */
const LONGEST = 12;

/** The ending of a path, in small letters; empty where it has none that could be a suffix. */
export function suffixOfPath(path: Uint8Array | string): string {
  const text = typeof path === "string" ? path : utf8Text(path);
  const [suffix = ""] = /\.[A-Za-z0-9]+$/.exec(text) ?? [];
  const isOnlyThat = /(^|\/)\.[^./]*$/.test(text); // a hidden file has none
  return isOnlyThat || suffix.length > LONGEST ? "" : suffix.toLowerCase();
}
