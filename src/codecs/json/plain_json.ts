import { MsgpackFloat } from "../msgpack/mod.ts";

/** Nesting limit, below that of the JSON reader (1,000). */
const DEEPEST = 900;

/**
 * Asserts that JSON can represent a value, which could otherwise silently become `{}`. `isExact` allows
 * `parseExactJson`'s floats and maps with string keys.
 *
 * @throws {TypeError} If it holds anything else, contains itself, or is nested too deep; the message says where.
 */
export function assertPlainJson(
  root: unknown,
  isExact = false,
  subject: "Meta data" | "JSON" = "Meta data",
): void {
  function refuse(what: string, place: string): never {
    const start = subject === "JSON" ? "value" : "meta";
    const where = place.length > 200 ? `…${place.slice(-200)}` : place;
    throw new TypeError(
      `${subject} cannot hold ${what} (at ${start}${where}): only plain data can be stored`,
    );
  }
  const inside = new Set<object>();
  const visit = (value: unknown, place: string, depth: number): void => {
    switch (typeof value) {
      case "string":
      case "number":
      case "boolean":
      case "bigint":
        return;
      case "object":
        break;
      default:
        refuse(value === undefined ? "undefined" : `a ${typeof value}`, place);
    }
    if (value === null || isExact && value instanceof MsgpackFloat) return;
    if (inside.has(value)) refuse("something that contains itself", place);
    if (depth > DEEPEST) refuse(`more than ${DEEPEST} levels`, place);
    inside.add(value);
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) { // holes too
        visit(value[i], `${place}[${i}]`, depth + 1);
      }
    } else if (isExact && value instanceof Map) {
      for (const [key, item] of value) {
        if (typeof key !== "string") {
          refuse("a key that is not a string", place);
        }
        visit(item, `${place}.${key}`, depth + 1);
      }
    } else {
      const prototype = Object.getPrototypeOf(value);
      if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
        refuse(`a ${value.constructor?.name ?? "class"}`, place);
      }
      for (const [key, item] of Object.entries(value)) {
        visit(item, `${place}.${key}`, depth + 1);
      }
    }
    inside.delete(value);
  };
  visit(root, "", 0);
}
