import { FormatError, RecordfsError } from "../base/errors.ts";
import {
  compressionOf,
  decompressedName,
} from "../io/compressed/compressions.ts";
import { runSync, type Steps } from "../io/concurrency/steps.ts";
import { readPart } from "../io/read/read_part.ts";
import type { Storage } from "../io/storage/storage.ts";
import { utf8Text } from "../base/utf8.ts";

/** Number of leading bytes that are inspected. */
const HEAD = 1024;

interface OtherContent {
  readonly what: string;
  readonly hint: string;
  readonly isCompressed: boolean;
}

/** Texts that servers send in place of a file. */
const TEXTS:
  readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
    [
      /^\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b/is,
      () => "an HTML page",
    ],
    [
      /^\s*(?:<\?xml[^>]*\?>\s*)?<Error>(?:.*?<Code>([\w.]+)<\/Code>)?/s,
      ([, code]) => `an error of a store${code ? ` (${code})` : ""}`,
    ],
    [/^\s*\{\s*"(?:error|errors|message)"\s*:/i, () => "an error in JSON"],
  ];

/** Magic bytes of archives that no format here reads. */
const ARCHIVES:
  readonly (readonly [name: string, magic: string, hint: string])[] = [
    [
      "a 7z archive",
      "7z\xbc\xaf\x27\x1c",
      "Extract it with 7z, and pack the files",
    ],
    [
      "a RAR archive",
      "Rar!\x1a\x07",
      "Extract it with unrar, and pack the files",
    ],
  ];

/** Errors that may mean that a file is not of its format at all. */
const STRUCTURAL: ReadonlySet<FormatError["code"]> = new Set([
  "absurd-count",
  "bad-index",
  "bad-meta",
  "bad-offsets",
  "bad-spec",
  "bad-structure",
  "metadata-checksum",
  "missing-index",
  "not-packed",
  "out-of-bounds",
  "truncated",
  "truncated-data",
  "truncated-header",
  "unknown-format",
]);

/** Suffixes of files that begin compressed, as a whole or with their first content. */
const MEANT_COMPRESSED = /(z|\.(bz2|zst|zstd|lz4|lzo))$/i;

/**
 * Identifies a file by its first bytes, if it is something that is often found in place of a container.
 *
 * @param isOpened Whether the bytes are those that a format was given; otherwise they may have been decompressed for it.
 */
export function otherContent(
  head: Uint8Array,
  path: string,
  isOpened = true,
): OtherContent | undefined {
  const compression = compressionOf(head);
  if (compression !== undefined && (isOpened || !compression.isRead)) {
    const { name, command } = compression;
    return {
      isCompressed: true,
      what: `a file compressed by ${name}`,
      hint: `Decompress it first: \`${command} ${path} > ${plainPath(path)}\``,
    };
  }
  const latin1 = String.fromCharCode(...head.subarray(0, 16));
  const archive = ARCHIVES.find(([, magic]) => latin1.startsWith(magic));
  if (archive !== undefined) {
    return { what: archive[0], hint: archive[2], isCompressed: false };
  }
  const text = utf8Text(head).replace(/^\ufeff/, "");
  for (const [pattern, name] of TEXTS) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return {
      isCompressed: false,
      what: name(found),
      hint:
        "A server sent that instead of the file. Download it again, with the required credentials",
    };
  }
  return undefined;
}

function plainPath(path: string): string {
  const plain = decompressedName(path);
  return plain === path ? `${path}.plain` : plain;
}

/**
 * Runs `open`. If it fails for a file that begins as something else, throws an error that says so, caused by the
 * original. `isOpened` is as for {@linkcode otherContent}.
 */
export function* explaining<T>(
  open: Steps<T>,
  storage: Storage,
  isOpened = false,
): Steps<T> {
  try {
    return yield* open;
  } catch (error) {
    throw yield* explained(error, storage, isOpened);
  }
}

/** Explains damage like {@linkcode explaining}, if the storage is synchronous, once for each path. */
export function explainedNow(
  damage: FormatError,
  storage: Storage,
  seen: Set<string>,
): FormatError {
  const { path } = damage;
  if (path === undefined || seen.has(path)) return damage;
  seen.add(path);
  try {
    return runSync(explained(damage, storage, true)) as FormatError;
  } catch {
    return damage;
  }
}

/** Returns the error that {@linkcode explaining} throws: `error` itself if there is nothing to add. */
export function* explained(
  error: unknown,
  storage: Storage,
  isOpened = false,
): Steps<unknown> {
  if (!(error instanceof FormatError) || error.path === undefined) return error;
  if ((error.sample ?? 0) > 0) return error; // the first sample was sound
  if (!STRUCTURAL.has(error.code)) return error;
  const { path } = error;
  const head = yield* firstBytes(path, storage);
  const other = head && otherContent(head, path, isOpened);
  // Some formats have compressed shards, with a matching suffix.
  const isMeant = error.code !== "unknown-format" &&
    other?.isCompressed === true && MEANT_COMPRESSED.test(path);
  if (other === undefined || isMeant) return error;
  return new FormatError(
    "other-content",
    `Cannot open ${path}: it begins like ${other.what}, and is not a valid container (${error.code}). ${other.hint}`,
    { path, cause: error },
  );
}

/** Reads the first bytes of a file. Returns `undefined` if they can't be read: opening the container reports why. */
export function* firstBytes(
  path: string,
  storage: Storage,
  most = HEAD,
): Steps<Uint8Array | undefined> {
  try {
    const source = yield* storage.open(path);
    try {
      return yield* readPart(source, 0, Math.min(most, source.size));
    } finally {
      source.close();
    }
  } catch (error) {
    if (error instanceof RecordfsError && error.code !== "must-wait") {
      return undefined;
    }
    throw error;
  }
}
