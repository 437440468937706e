import { messageOf } from "../../base/message_text.ts";
import { PACKAGES } from "../../base/packages.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { mustWait } from "../storage/must_wait.ts";
import type { DecodeFault } from "./inflate.ts";

type Compressors = typeof import("hyparquet-compressors");
type Uncompress = NonNullable<Compressors["compressors"]["SNAPPY"]>;

/** A copy of 64 bytes takes 3 (format_description.txt of Snappy). */
const MOST_EXPANSION = 64;

let uncompress: Uncompress | undefined;

/** Loads the Snappy package. Without waiting, it must be loaded already. */
export function loadSnappy(): Steps<void> {
  return perform({
    sync() {
      if (uncompress === undefined) throw mustWait("the package for Snappy");
    },
    async async() {
      const loaded: Compressors = await import(PACKAGES.hyparquetCompressors);
      uncompress ??= loaded.compressors.SNAPPY!;
    },
  });
}

/** Decompresses raw (unframed) Snappy. Throws what `fault` returns, if the bytes are damaged or of another size. */
export function* decompressSnappy(
  bytes: Uint8Array,
  into: Uint8Array,
  fault: DecodeFault,
): Steps<void> {
  yield* loadSnappy();
  const declared = snappySize(bytes);
  if (declared !== into.length) {
    throw fault(`has ${declared} bytes, not ${into.length}`);
  }
  if (declared > MOST_EXPANSION * bytes.length) {
    throw fault(
      `has ${bytes.length} bytes, which cannot decompress to ${declared}`,
    );
  }
  if (declared === 0) return;
  try {
    into.set(uncompress!(bytes, declared));
  } catch (cause) {
    const why = messageOf(cause);
    throw fault(`can't be decompressed (${why})`, cause);
  }
}

/** Returns the decompressed size, declared at the start of raw Snappy. */
export function snappySize(bytes: Uint8Array): number {
  let size = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[i] ?? 0;
    size += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) break;
  }
  return size;
}
