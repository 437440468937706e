import { utf8Text } from "../../base/utf8.ts";

/** Maximum length of a suffix, including the dot. */
const LONGEST = 12;

/** Returns the suffix of a path, in lower case; empty if there is none. */
export function suffixOfPath(path: Uint8Array | string): string {
  const text = typeof path === "string" ? path : utf8Text(path);
  const [suffix = ""] = /\.[A-Za-z0-9]+$/.exec(text) ?? [];
  const isOnlyThat = /(^|\/)\.[^./]*$/.test(text); // a hidden file has none
  return isOnlyThat || suffix.length > LONGEST ? "" : suffix.toLowerCase();
}
