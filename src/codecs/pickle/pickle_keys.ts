import { types } from "node:util";
import { Buffer } from "node:buffer";
import { bytesOf } from "../../bytes_of.ts";

/** Python's `hash` of nested tuples recurses: nobody nests keys that deep. */
const DEEPEST_KEY = 100;

/**
 * Whether two keys that differ in JavaScript are equal in Python, such as `1` and `true`: of these a
 * `dict` or `set` would keep one.
 *
 * @param keys Keys of a `Map` or members of a `Set`; gone through twice.
 */
export function hasEqualKeys(keys: Iterable<unknown>): boolean {
  // Strings differ from each other and from all else, and so do numbers from each other.
  if (Iterator.from(keys).every(isDistinct)) return false;
  const seen = new Set<string>();
  for (const key of keys) {
    const name = canonical(key, 0);
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

function isDistinct(key: unknown): boolean {
  return typeof key === "string" || typeof key === "number" || key === null;
}

let unknown = 0;

/** A text that is the same for keys that are equal in Python. */
function canonical(key: unknown, depth: number): string {
  if (depth > DEEPEST_KEY) {
    throw new TypeError(
      `Cannot pickle a key that nests deeper than ${DEEPEST_KEY} levels, or ` +
        `contains itself`,
    );
  }
  switch (typeof key) {
    case "string":
      return `s${key.length}:${key}`;
    case "boolean":
      return `n${Number(key)}`;
    case "number":
      return `n${Number.isInteger(key) ? BigInt(key) : key}`;
    case "bigint":
      return `n${key}`;
  }
  const bytes = bytesOf(key);
  if (bytes !== undefined) {
    return `b${bytes.length}:${Buffer.from(bytes).toString("latin1")}`;
  }
  if (Array.isArray(key)) {
    return `(${key.map((item) => canonical(item, depth + 1)).join(",")})`;
  }
  if (types.isSet(key)) {
    const items = [...key].map((item) => canonical(item, depth + 1));
    return `{${items.sort().join(",")}}`;
  }
  // What cannot be a key is refused by name when its turn comes.
  return key === null ? "None" : `?${unknown++}`;
}
