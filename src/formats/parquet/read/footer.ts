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
import { encryptedFault, footerFault } from "./footer_fault.ts";
import { footerMessage } from "./footer_message.ts";
import { loadLibrary } from "./library.ts";
import { indexOf, type ParquetIndex } from "./parquet_index.ts";
import { lengthenChunks } from "./short_chunks.ts";

/** What is read of a file's end at first: most footers are in it. */
const FIRST_READ = 1 << 16;
/** Bytes of the signature behind a footer that can be read although columns are encrypted. */
const SIGNATURE = 28;

/**
 * Reads the footer of a file.
 *
 * @param onWarning Called with what is odd but readable.
 * @throws {FormatError} If it is damaged, lies, or is encrypted.
 */
export function* readFooter(
  source: ByteSource,
  onWarning: (message: string) => void,
): Steps<ParquetIndex> {
  const library = yield* loadLibrary(source.name);
  const footer = yield* readBytes(source);
  const warn = (what: string) => onWarning(`${source.name}: ${what}`);
  try {
    const end = thriftEnd(footer);
    const rest = footer.length - TAIL_SIZE - end;
    if (end < 0 || rest < 0) {
      throw footerFault(source, "its footer does not end where it says");
    }
    const view = new DataView(footer.buffer);
    const message = footerMessage(library.readThrift({ view, offset: 0 }));
    if (rest !== 0 && rest !== SIGNATURE) {
      warn(`${rest} bytes behind the end of its footer are ignored`);
    }
    const index = indexOf(source, message, warn);
    const start = source.size - footer.length;
    yield* lengthenChunks(source, library, index, message, start, warn);
    return index;
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    const isKnown = cause instanceof BadThrift || cause instanceof BadSchema;
    const why = isKnown ? `: it ${cause.message}` : "";
    const isTooMuch = cause instanceof BadThrift && why.includes("more than");
    throw footerFault(
      source,
      `its footer is damaged${why}`,
      isTooMuch ? "too-large" : "bad-structure",
      cause,
    );
  }
}

/** The footer with the bytes behind it, in memory of their own. */
function* readBytes(source: ByteSource): Steps<Uint8Array<ArrayBuffer>> {
  const { size } = source;
  if (size < MAGIC_SIZE + TAIL_SIZE) {
    throw footerFault(
      source,
      `it has ${size} bytes: it is no Parquet, or is truncated`,
      "truncated",
    );
  }
  const first = Math.min(size, FIRST_READ);
  const end = yield* readPart(source, size - first, first);
  const tail = new DataView(end.buffer, end.length - TAIL_SIZE);
  const magic = tail.getUint32(4, true);
  if (magic === ENCRYPTED_MAGIC) throw encryptedFault(source, "its footer is");
  if (magic !== MAGIC) {
    throw footerFault(
      source,
      "it does not end in PAR1: it is truncated, was not written to its end, or is no Parquet",
      "truncated",
    );
  }
  const length = tail.getUint32(0, true);
  const most = size - MAGIC_SIZE - TAIL_SIZE;
  if (length > most) {
    throw footerFault(
      source,
      `its footer would have ${length} bytes, and there are ${most} before its end`,
    );
  }
  if (length > LARGEST_FOOTER) {
    throw footerFault(
      source,
      `its footer has ${length} bytes, and up to ${LARGEST_FOOTER} are read`,
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
