import { PACKAGES } from "../../../base/packages.ts";
import * as fs from "node:fs";
import { gunzipSync } from "node:zlib";
import { jsonItems, jsonMembers } from "../../../codecs/json/parts.ts";
import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import { inputError, reading } from "./input_error.ts";
import { strictUtf8Text, withoutByteOrderMark } from "../../../base/utf8.ts";

/** Reads a JSON file that holds an object and returns the text of each value by key, in order. Decompresses `.gz`. */
export function readMembers(path: string): Map<string, string> {
  return parseJsonAt(path, (bytes) => jsonMembers(bytes)) ??
    refuse(path, "its content is not an object");
}

/** Reads a JSON file that holds a list and returns the text of each item. Decompresses `.gz`. */
export function readItems(path: string, what: string): string[] {
  return parseJsonAt(path, (bytes) => jsonItems(bytes)) ??
    refuse(path, `it is not a ${what}`);
}

/** Returns the text of each value of a JSON object; `what` names the object in errors. */
export function membersOf(
  path: string,
  text: string | undefined,
  what: string,
): Map<string, string> {
  const members = text === undefined ? undefined : jsonMembers(text);
  return members ?? refuse(path, `${what} is not an object`);
}

/** Parses the entry of an id; `undefined` if there is none. */
export function entryOf(
  path: string,
  entries: ReadonlyMap<string, string>,
  id: string,
): { readonly [key: string]: JsonValue } | undefined {
  const text = entries.get(id);
  if (text === undefined) return undefined;
  membersOf(path, text, `the entry ${id}`);
  return parseJson(text) as { readonly [key: string]: JsonValue };
}

function parseJsonAt<T>(path: string, parse: (bytes: Uint8Array) => T): T {
  const bytes = reading(path, () => fs.readFileSync(path));
  return parsing(
    path,
    "JSON",
    () => parse(path.endsWith(".gz") ? gunzipSync(bytes) : bytes),
  );
}

function parsing<T>(path: string, format: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const what = `it is not ${format}: ${(error as Error).message}`;
    throw inputError(path, what, error);
  }
}

function refuse(path: string, what: string): never {
  throw inputError(path, what);
}

/** Reads CSV rows with semicolons, without empty lines. Loads its npm package here: gulping other data needs none. */
export async function readCsvRows(path: string): Promise<string[][]> {
  const text = readText(path);
  const { parse } = await loadCsvPackage(path);
  return parsing(path, "CSV", () =>
    parse(text, {
      delimiter: ";",
      relax_column_count: true,
      relax_quotes: true, // inside a field, quotes are characters, as in Python
      skip_empty_lines: true,
    }));
}

async function loadCsvPackage(
  path: string,
): Promise<typeof import("csv-parse/sync")> {
  try {
    return await import(`${PACKAGES.csvParse}/sync`);
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    throw inputError(
      path,
      `csv-parse, which is downloaded from npm once, does not load: ${reason}`,
      error,
    );
  }
}

/** Whitespace of Python's `str.strip`; JavaScript's `trim` also removes U+FEFF, but no control characters. */
const BLANK = // deno-lint-ignore no-control-regex -- they are what is meant
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Reads the lines of a text file, which end as in Python, without a byte order mark and surrounding whitespace. */
export function readTrimmedLines(path: string): string[] {
  return readText(path).split(/\r\n|\r|\n/).map((line) => {
    let [start, end] = [0, line.length];
    while (start < end && BLANK.test(line[start]!)) start++;
    while (end > start && BLANK.test(line[end - 1]!)) end--;
    return line.slice(start, end);
  });
}

function readText(path: string): string {
  const bytes = reading(path, () => fs.readFileSync(path));
  try {
    return withoutByteOrderMark(strictUtf8Text(bytes));
  } catch (error) {
    throw inputError(path, "its text is not UTF-8", error);
  }
}
