import { encodeName } from "../../base/names.ts";
import { escapedName } from "../names/escaped_name.ts";
import type { Field } from "./samples.ts";

/** Longest name of a file, in bytes. */
const LONGEST = 255;
/** Room for a suffix, and for what tells a name from others. */
const ROOM = 32;

/** The names of the files that a sample is shown as, one for each of its fields, and found by them. */
export interface FieldNames {
  readonly bytes: readonly Uint8Array[];
  readonly byName: ReadonlyMap<string, number>;
}

/**
 * Names files: by the field, and its type's suffix, unless the field's name ends so already. What no name may have is
 * written as in URLs, a name that is taken gets a number, and one that no file can have is cut.
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

/** What a name ends in, where that is a type's suffix and not all of it. */
function endingOf(name: string, suffix: string): string {
  const same = suffix === ".jpg" && /.\.jpeg$/i.test(name) ? ".jpeg" : suffix;
  const isThere = name.length > same.length && same !== "" &&
    name.toLowerCase().endsWith(same);
  return isThere ? name.slice(-same.length) : "";
}

/** Cuts a name that no file can have, and puts the field's number behind it. */
function shortened(name: string, field: number): string {
  const most = LONGEST - ROOM;
  if (encodeName(name).length <= most) return name;
  let short = name.slice(0, most);
  while (encodeName(short).length > most || !short.isWellFormed()) {
    short = short.slice(0, -1);
  }
  return `${short}~${field}`;
}
