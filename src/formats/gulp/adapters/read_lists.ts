import { PACKAGES } from "../../../base/packages.ts";
import * as fs from "node:fs";
import { gunzipSync } from "node:zlib";
import { jsonItems, jsonMembers } from "../../../codecs/json/parts.ts";
import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import { inputError, reading } from "./input_error.ts";
import { strictUtf8Text, withoutByteOrderMark } from "../../../base/utf8.ts";

/**
 * The text of each value of a JSON file that is an object, by key, in its order; `.json.gz` is
 * unpacked first.
 */
export function readMembers(path: string): Map<string, string> {
  return parseJsonAt(path, (bytes) => jsonMembers(bytes)) ??
    refuse(path, "its content is no object");
}

/** The text of each item of a JSON file that is a list; `.json.gz` is unpacked first. */
export function readItems(path: string, what: string): string[] {
  return parseJsonAt(path, (bytes) => jsonItems(bytes)) ??
    refuse(path, `it is no ${what}`);
}

/** The text of each value of an object in such a file, or an error that says where it was expected. */
export function membersOf(
  path: string,
  text: string | undefined,
  what: string,
): Map<string, string> {
  const members = text === undefined ? undefined : jsonMembers(text);
  return members ?? refuse(path, `${what} is no object`);
}

/** What such a file says of an id, among the texts of its entries; `undefined` where it has none. */
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

/**
 * Reads the rows of a CSV file whose fields are separated by semicolons; empty lines are none.
 *
 * The package for it is loaded here: who gulps something else needs none.
 */
export async function readCsvRows(path: string): Promise<string[][]> {
  const text = readText(path);
  const { parse } = await loadCsvPackage(path);
  return parsing(path, "CSV", () =>
    parse(text, {
      delimiter: ";",
      relax_column_count: true,
      relax_quotes: true, // in the middle of a field they are characters, as for Python
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
      `csv-parse, to be fetched from npm once, does not load: ${reason}`,
      error,
    );
  }
}

/** What Python's `str.strip` takes for blanks; JavaScript's `trim` takes U+FEFF too, and no controls. */
const BLANK = // deno-lint-ignore no-control-regex -- they are what is meant
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/**
 * Reads the lines of a text, which end as they do for Python; a mark of byte order before it, and blanks
 * around them, are left out.
 */
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
