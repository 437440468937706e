import { decodeName, encodeName } from "../../base/names.ts";
import { escapedName } from "../names/escaped_name.ts";
import type { Field } from "./samples.ts";

const LONGEST = 255;
/** Reserved for a suffix, and for a number that makes the name unique. */
const ROOM = 32;

/** File names of a sample's fields, and the fields by file name. */
export interface FieldNames {
  readonly bytes: readonly Uint8Array[];
  readonly byName: ReadonlyMap<string, number>;
}

/**
 * Derives file names from field names, plus the type's suffix unless the name already has it. Invalid characters are
 * percent-encoded, duplicates get a number, and names that are too long are cut.
 */
export function fieldNames(fields: readonly Field[]): FieldNames {
  const byName = new Map<string, number>();
  for (const [field, { name, type: { suffix } }] of fields.entries()) {
    const escaped = escapedName(name);
    const own = endingOf(escaped, suffix);
    const bare = shortened(
      escaped.slice(0, escaped.length - own.length),
      field,
    );
    const end = own || suffix;
    let file = bare + end;
    for (let again = 2; byName.has(file); again++) {
      file = `${bare}~${again}${end}`;
    }
    byName.set(file, field);
  }
  return { bytes: [...byName.keys()].map(encodeName), byName };
}

/** Returns the end of a name that is its type's suffix, unless that is the whole name. */
function endingOf(name: string, suffix: string): string {
  const same = suffix === ".jpg" && /.\.jpeg$/i.test(name) ? ".jpeg" : suffix;
  const isThere = name.length > same.length && same !== "" &&
    name.toLowerCase().endsWith(same);
  return isThere ? name.slice(-same.length) : "";
}

/** Cuts a name that is too long, and appends the field's number. */
function shortened(name: string, field: number): string {
  const bytes = encodeName(name);
  let end = LONGEST - ROOM;
  if (bytes.length <= end) return name;
  while ((bytes[end]! & 0xc0) === 0x80) end--; // not within a character
  return `${decodeName(bytes, 0, end)}~${field}`;
}
