import { createHash } from "node:crypto";
import { LABEL_FILE } from "../read/chunk_files.ts";

/** Longest name that every file system holds. */
const LONGEST_NAME = 255;
/** What is kept of a longer one, in front of `~` and the start of its SHA-256. */
const KEPT = 230;
const HASH_DIGITS = 16;
const CUT_LENGTH = KEPT + 1 + HASH_DIGITS;

const TILDE = 0x7e;
const encoder = new TextEncoder();
const EMPTY = encoder.encode("%");
/** Ids that would name something else, and the names they get: their first bytes percent-encoded. */
const RESERVED = new Map([
  [".", encoder.encode("%2E")],
  ["..", encoder.encode("%2E%2E")],
  [LABEL_FILE, encoder.encode(`%6C${LABEL_FILE.slice(1)}`)],
]);

/**
 * The name of a video's directory: its id, with what no name can hold percent-encoded.
 *
 * `/`, NUL and `%` become `%2F`, `%00` and `%25`, a lone surrogate its three bytes percent-encoded;
 * `.` and `..` become `%2E` and `%2E%2E`, the empty id `%`; the first character of an id that equals
 * the name of the file of labels is encoded. A name over 255 bytes is cut to 230 and ends in `~` and
 * 16 hex digits of its SHA-256; so is a name that looks like one that was cut. So different ids have
 * different names.
 *
 * @param id The id's bytes, as `encodeId` makes them.
 */
export function nameOfId(id: Uint8Array): Uint8Array {
  if (id.length === 0) return EMPTY;
  const name = RESERVED.get(shortText(id)) ?? escape(id);
  return name.length > LONGEST_NAME || looksCut(name) ? cut(name) : name;
}

/** The text of an id that is short enough to be reserved. */
function shortText(id: Uint8Array): string {
  return id.length > LABEL_FILE.length
    ? ""
    : Array.from(id, (byte) => String.fromCharCode(byte)).join("");
}

function escape(id: Uint8Array): Uint8Array {
  let name: number[] | undefined;
  for (let i = 0; i < id.length; i++) {
    const byte = id[i]!;
    // In ids, ED A0 … and above are lone surrogates.
    const isSurrogate = byte === 0xed && id[i + 1]! >= 0xa0;
    const count = isSurrogate
      ? 3
      : byte === 0x2f || byte === 0 || byte === 0x25
      ? 1
      : 0;
    if (count === 0) {
      name?.push(byte);
      continue;
    }
    name ??= [...id.subarray(0, i)];
    for (const escaped of id.subarray(i, i + count)) {
      const hex = escaped.toString(16).toUpperCase().padStart(2, "0");
      name.push(...encoder.encode(`%${hex}`));
    }
    i += count - 1;
  }
  return name === undefined ? id : Uint8Array.from(name);
}

function looksCut(name: Uint8Array): boolean {
  return name.length === CUT_LENGTH && name[KEPT] === TILDE &&
    name.subarray(KEPT + 1).every((byte) =>
      byte >= 0x30 && byte <= 0x39 || byte >= 0x61 && byte <= 0x66
    );
}

function cut(name: Uint8Array): Uint8Array {
  const hash = createHash("sha256").update(name).digest("hex");
  const short = new Uint8Array(CUT_LENGTH);
  short.set(name.subarray(0, KEPT));
  short.set(encoder.encode(`~${hash.slice(0, HASH_DIGITS)}`), KEPT);
  return short;
}
