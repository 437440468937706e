import { parseObjectEntries } from "../../../codecs/json/parts.ts";
import { briefJson, formatString } from "../../../codecs/json/format.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import { FormatError, WriteError } from "../../../base/errors.ts";
import { byCodePoint } from "../../../base/names.ts";
import { type Generation, REFS_KEY } from "./dataset_names.ts";

/** A dataset's keys and their types, as in `spec.json`: `{ "text": "utf8", "n": "int(8)" }`. */
export type Spec = Readonly<Record<string, string>>;

/** A parsed type word, such as `array(float32,4)[]`. */
export interface ValueType {
  /** Word without `[]`: `array(float32,4)`. */
  readonly word: string;
  /** Word before the arguments: `array`. */
  readonly name: string;
  /** Arguments as strings: `float32` and `4`. */
  readonly args: readonly string[];
  /** Whether a datapoint has a list of such values. Generations 1 and 2 only. */
  readonly isList: boolean;
}

export interface SpecKey {
  readonly key: string;
  readonly type: ValueType;
}

/** Largest `spec.json` that is read, in bytes. */
export const LARGEST_SPEC = 16 * 1024 * 1024;

/** Longest key in bytes: a file name has at most 255, and `.bag` takes four. */
const LONGEST_KEY = 251;

/** Parses a type word. Any word is valid. */
export function parseType(text: string, withLists: boolean): ValueType {
  const isList = withLists && text.endsWith("[]");
  const word = isList ? text.slice(0, -2) : text;
  const [, name = word, args] = /^([^()]*)\(([^()]*)\)$/.exec(word) ?? [];
  return {
    word,
    name,
    args: args === undefined ? [] : args.split(","),
    isList,
  };
}

/** Returns why a key cannot name a bag, if so. It becomes a file name in the dataset, and must never lead out of it. */
export function keyProblem(key: string, hasRefs: boolean): string | undefined {
  if (key === "") return "it is empty";
  if (key === "." || key === "..") return "it is not a file name";
  if (/[/\0]/.test(key)) return "it names a path";
  if (!key.isWellFormed()) return "it is not UTF-8";
  if (new TextEncoder().encode(key).length > LONGEST_KEY) {
    return `it is longer than ${LONGEST_KEY} bytes`;
  }
  if (hasRefs && key === REFS_KEY) return "refs.bag holds the references";
  return undefined;
}

function parseObject(bytes: Uint8Array, path: string): Map<string, JsonValue> {
  let entries: Map<string, JsonValue> | undefined;
  try {
    entries = parseObjectEntries(bytes);
  } catch (cause) {
    throw bad(
      path,
      `spec.json is not JSON: ${(cause as Error).message}`,
      cause,
    );
  }
  if (entries === undefined) throw bad(path, "the spec must be an object");
  return entries;
}

function bad(path: string, what: string, cause?: unknown): FormatError {
  return new FormatError("bad-spec", `Cannot read ${path}: ${what}`, {
    path,
    cause,
  });
}

/**
 * Parses `spec.json`, and returns the keys in file order. Throws `bad-spec`.
 *
 * @param hasRefs Whether the dataset is of generation 1 or 2, where references follow the order of the keys.
 */
export function parseSpec(
  bytes: Uint8Array,
  path: string,
  hasRefs: boolean,
): SpecKey[] {
  const keys = [...parseObject(bytes, path)].map(([key, text]) => {
    const problem = keyProblem(key, hasRefs);
    if (problem !== undefined) {
      throw bad(path, `unsafe key ${JSON.stringify(key)}: ${problem}`);
    }
    if (typeof text !== "string") {
      throw bad(
        path,
        `the type of ${JSON.stringify(key)} is ${
          briefJson(text)
        }: a type must be a string`,
      );
    }
    return { key, type: parseType(text, hasRefs) };
  });
  const sorted = keys.toSorted((a, b) => byCodePoint(a.key, b.key));
  if (hasRefs && keys.some(({ key }, i) => key !== sorted[i]!.key)) {
    throw bad(path, "the keys must be sorted: references follow their order");
  }
  return keys;
}

export function specOf(keys: readonly SpecKey[]): Spec {
  return Object.fromEntries(
    keys.map((
      { key, type },
    ) => [key, type.isList ? `${type.word}[]` : type.word]),
  );
}

/** Required start of keys and types in granular's writers. */
const GRANULAR_WORD = /^[a-z_]/;

/** Form of types that bags requires, in writing and reading. */
const BAGS_TYPE = /^[a-z0-9_-]+(\([a-z0-9_,.-]*\))?(\[\])?$/;

export interface WrittenSpec {
  /** As given, with sorted keys. */
  readonly spec: Spec;
  /** Sorted by code point: the order of the references. */
  readonly keys: readonly SpecKey[];
  /** Content of `spec.json`. */
  readonly json: Uint8Array;
}

/** Validates a specification as the original writers do. Throws a {@linkcode WriteError} `bad-spec`. */
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
      `the spec must be an object of types by key, such as {"text": "utf8"}`,
    );
  }
  const hasRefs = generation !== 3;
  const entries = Object.entries(spec).sort(([a], [b]) => byCodePoint(a, b));
  for (const [key, type] of entries) {
    const problem = keyProblem(key, hasRefs);
    if (problem !== undefined) {
      throw bad(`the key ${JSON.stringify(key)} cannot name a bag: ${problem}`);
    }
    if (typeof type !== "string") {
      throw bad(`the type of ${JSON.stringify(key)} must be a string`);
    }
  }
  if (!hasRefs && entries.length === 0) {
    throw bad("a dataset of generation 3 must have at least one key");
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

/** Makes a key, valid in any generation and not `taken`, of a name from elsewhere. */
export function keyFor(name: string, taken: ReadonlySet<string>): string {
  const safe = name.toWellFormed().toLowerCase().replace(/[/\0]/g, "_");
  const isWord = GRANULAR_WORD.test(safe);
  const start = isWord ? safe : `_${safe}`;
  let key = start;
  for (let again = 2; !isKey(key, taken); again++) {
    key = `${start.slice(0, LONGEST_KEY / 4)}_${again}`;
  }
  return key;
}

function isKey(key: string, taken: ReadonlySet<string>): boolean {
  return !taken.has(key) && keyProblem(key, true) === undefined;
}

/** Returns why the words are invalid, if so. Generation 1 was written by both packages: one must accept all words. */
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
