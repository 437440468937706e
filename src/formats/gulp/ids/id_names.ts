import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { encodeName } from "../../../base/names.ts";
import { PickleError } from "../../../codecs/pickle/pickle_error.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";
import { decodeId } from "./id_text.ts";
import { LABEL_FILE } from "../read/chunk_files.ts";

/** Length in bytes that every file system supports. */
const LONGEST_NAME = 255;
/** Bytes of a longer name before `~` and the start of its SHA-256. */
const KEPT = 230;
const HASH_DIGITS = 16;
/** A name that was cut, or looks like one. */
const CUT = /^.{230}~[0-9a-f]{16}$/s;

/** Name of an id that equals the name of the label file. */
const NOT_LABELS = `%6C${LABEL_FILE.slice(1)}`;

/** Lone surrogates, byte by byte. */
const SURROGATES = /\xed[\xa0-\xff].?/gs;

/**
 * Returns the directory name of a video: its id, percent-encoded where names allow no such characters.
 *
 * `/`, NUL and `%` become `%2F`, `%00` and `%25`; a lone surrogate becomes its three bytes percent-encoded; `.` and
 * `..` become `%2E` and `%2E%2E`; the empty id becomes `%`. If an id equals the name of the label file, its first
 * character is encoded. A name over 255 bytes is cut to 230 and ends in `~` and 16 hex digits of its SHA-256, as does a
 * name that looks cut. Thus different ids have different names.
 *
 * @param id Bytes of the id from `encodeId`.
 */
export function nameOfId(id: Uint8Array): Uint8Array {
  const text = Buffer.from(id.buffer, id.byteOffset, id.length)
    .toString("latin1"); // one character per byte
  const name = text === LABEL_FILE
    ? NOT_LABELS
    : escapedName(text).replace(SURROGATES, percentEncoded);
  if (name.length > LONGEST_NAME || CUT.test(name)) {
    const hash = createHash("sha256").update(bytesOf(name)).digest("hex");
    const cut = `${name.slice(0, KEPT)}~${hash.slice(0, HASH_DIGITS)}`;
    return bytesOf(cut);
  }
  return name === text ? id : bytesOf(name);
}

/** Returns the id that a tree shows under this name, or the name itself if no tree would make it. */
export function idOfName(name: string): string {
  const given = encodeName(name);
  const id = decodedName(given);
  if (Buffer.compare(nameOfId(id), given) !== 0) return name;
  try {
    return decodeId(id);
  } catch (error) {
    if (error instanceof PickleError) return name; // names may be invalid text
    throw error;
  }
}

/** Returns the bytes of the id of a directory name, unless it was cut. */
function decodedName(name: Uint8Array): Uint8Array {
  const text = Buffer.from(name).toString("latin1");
  const id = text === "%" ? "" : text.replace(
    /%([0-9A-F]{2})/g,
    (_, hex) => String.fromCharCode(parseInt(hex, 16)),
  );
  return bytesOf(id);
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "latin1"));
}

function percentEncoded(bytes: string): string {
  return Array.from(bytes, (byte) => {
    const hex = byte.charCodeAt(0).toString(16).toUpperCase();
    return `%${hex.padStart(2, "0")}`;
  }).join("");
}
