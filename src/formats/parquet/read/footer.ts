import { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  ENCRYPTED_MAGIC,
  LARGEST_FOOTER,
  MAGIC,
  MAGIC_SIZE,
  TAIL_SIZE,
} from "../layout.ts";
import { BadSchema } from "../values/schema.ts";
import { BadThrift, thriftEnd } from "./check_thrift.ts";
import { encryptedFault, FooterFault } from "./footer_fault.ts";
import { type FooterMessage, footerMessage } from "./footer_message.ts";
import { loadLibrary, type ParquetLibrary } from "./library.ts";
import { indexOf, type ParquetIndex } from "./parquet_index.ts";
import { lengthenChunks } from "./short_chunks.ts";

/** Bytes initially read from the end of a file: enough for most footers. */
const FIRST_READ = 1 << 16;
/** Bytes of the signature after a plaintext footer of a file with encrypted columns. */
const SIGNATURE = 28;

/**
 * Reads the footer of a file.
 *
 * @param onWarning Called for irregularities that do not prevent reading.
 * @throws {FormatError} If it is damaged, inconsistent or encrypted.
 */
export function* readFooter(
  source: ByteSource,
  onWarning: (message: string) => void,
): Steps<ParquetIndex> {
  const { name: path, size } = source;
  const library = yield* loadLibrary(path);
  const warn = (what: string) => onWarning(`${path}: ${what}`);
  try {
    const footer = yield* readFooterBytes(source);
    const { message, index } = parsed(footer, library, size, warn);
    const start = size - footer.length;
    yield* lengthenChunks(source, library, index, message, start, warn);
    return index;
  } catch (cause) {
    if (!(cause instanceof FooterFault)) throw cause;
    const { message: why, code } = cause;
    const way = code === "bad-structure" || code === "out-of-bounds"
      ? ". Download or write the file again"
      : "";
    const message = `Cannot read ${path}: ${why}${way}`;
    throw new FormatError(code, message, { path, cause: cause.cause });
  }
}

function parsed(
  footer: Uint8Array<ArrayBuffer>,
  library: ParquetLibrary,
  size: number,
  warn: (what: string) => void,
): { readonly message: FooterMessage; readonly index: ParquetIndex } {
  try {
    const end = thriftEnd(footer);
    const rest = footer.length - TAIL_SIZE - end;
    if (end < 0 || rest < 0) {
      throw new FooterFault("its footer does not end where it says");
    }
    const view = new DataView(footer.buffer);
    const message = footerMessage(library.readThrift({ view, offset: 0 }));
    if (rest !== 0 && rest !== SIGNATURE) {
      warn(`${rest} bytes after the end of its footer are ignored`);
    }
    return { message, index: indexOf(size, message, warn) };
  } catch (cause) {
    if (cause instanceof FooterFault) throw cause;
    const isKnown = cause instanceof BadThrift || cause instanceof BadSchema;
    const why = isKnown ? `: it ${cause.message}` : "";
    const isTooMuch = cause instanceof BadThrift && why.includes("more than");
    const code = isTooMuch ? "too-large" : "bad-structure";
    throw new FooterFault(`its footer is damaged${why}`, code, cause);
  }
}

/** Reads the footer, with the tail after it. Throws a {@linkcode FooterFault} if there is none. */
export function* readFooterBytes(
  source: ByteSource,
): Steps<Uint8Array<ArrayBuffer>> {
  const { size } = source;
  if (size < MAGIC_SIZE + TAIL_SIZE) {
    throw new FooterFault(
      `it has ${size} bytes: it is truncated, or not Parquet`,
      "truncated",
    );
  }
  const first = Math.min(size, FIRST_READ);
  const end = yield* readPart(source, size - first, first);
  const tail = new DataView(end.buffer, end.length - TAIL_SIZE);
  const magic = tail.getUint32(4, true);
  if (magic === ENCRYPTED_MAGIC) throw encryptedFault("its footer is");
  if (magic !== MAGIC) {
    throw new FooterFault(
      "it does not end in PAR1: it is truncated, unfinished or not Parquet",
      "truncated",
    );
  }
  const length = tail.getUint32(0, true);
  const most = size - MAGIC_SIZE - TAIL_SIZE;
  if (length > most) {
    throw new FooterFault(
      `its footer would have ${length} bytes, and there are ${most} before its end`,
    );
  }
  if (length > LARGEST_FOOTER) {
    throw new FooterFault(
      `its footer has ${length} bytes, more than the limit of ` +
        `${LARGEST_FOOTER}`,
      "too-large",
    );
  }
  const whole = length + TAIL_SIZE;
  if (whole <= end.length) return end.slice(end.length - whole);
  const footer = new Uint8Array(whole);
  footer.set(yield* readPart(source, size - whole, whole - end.length));
  footer.set(end, whole - end.length);
  return footer;
}
