import { formatString } from "../../../codecs/json/format.ts";
import { WriteError } from "../../../errors.ts";
import { byCodePoint } from "../../../names.ts";
import type { Generation } from "../dataset/generation.ts";
import {
  keyProblem,
  parseType,
  type Spec,
  type SpecKey,
} from "../dataset/spec.ts";

/** What granular's writers ask of keys and types. */
const GRANULAR_WORD = /^[a-z_]/;

/** What bags asks of types, in writing and in reading. */
const BAGS_TYPE = /^[a-z0-9_-]+(\([a-z0-9_,.-]*\))?(\[\])?$/;

/** A specification as a writer takes it. */
export interface WrittenSpec {
  /** As it was given, its keys sorted. */
  readonly spec: Spec;
  /** Sorted by code point: the order of the references. */
  readonly keys: readonly SpecKey[];
  /** Content of `spec.json`. */
  readonly json: Uint8Array;
}

/**
 * Checks a specification as the original writers do.
 *
 * @param directory For errors.
 * @throws {WriteError} With code `bad-spec`.
 */
export function writtenSpec(
  spec: Spec,
  generation: Generation,
  directory: string,
): WrittenSpec {
  const bad = (what: string) =>
    new WriteError("bad-spec", `Cannot write ${directory}: ${what}`, {
      path: directory,
    });
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) {
    throw bad(
      `the spec is an object of types by key, such as {"text": "utf8"}`,
    );
  }
  const hasRefs = generation !== 3;
  const entries = Object.entries(spec).sort(([a], [b]) => byCodePoint(a, b));
  for (const [key, type] of entries) {
    const problem = keyProblem(key, hasRefs);
    if (problem !== undefined) {
      throw bad(`the key ${JSON.stringify(key)} can name no bag: ${problem}`);
    }
    if (typeof type !== "string") {
      throw bad(`the type of ${JSON.stringify(key)} is no string`);
    }
  }
  if (!hasRefs && entries.length === 0) {
    throw bad("a dataset of generation 3 has at least one key");
  }
  const problem = wordsProblem(entries, generation);
  if (problem !== undefined) throw bad(problem);
  const items = entries.map(([key, type]) =>
    `${formatString(key)}: ${formatString(type)}`
  );
  return {
    spec: Object.freeze(Object.fromEntries(entries)),
    keys: entries.map(([key, type]) => ({
      key,
      type: parseType(type, hasRefs),
    })),
    json: new TextEncoder().encode(`{${items.join(", ")}}`),
  };
}

/** Generation 1 was written by both packages: one of them must take all words. */
function wordsProblem(
  entries: readonly (readonly [string, string])[],
  generation: Generation,
): string | undefined {
  if (generation === 1 && entries.every(([, type]) => BAGS_TYPE.test(type))) {
    return undefined;
  }
  for (const [key, type] of entries) {
    for (const [what, word] of [["key", key], ["type", type]] as const) {
      if (GRANULAR_WORD.test(word)) continue;
      return `the ${what} ${
        JSON.stringify(word)
      } must start with a letter from a to z or _` +
        (generation === 1
          ? `, or all types be of a-z, 0-9, _ and -, as in array(float32,4)[]`
          : "");
    }
  }
  return undefined;
}
