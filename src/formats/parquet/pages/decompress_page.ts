import type { Steps } from "../../../io/concurrency/steps.ts";
import { decompressed } from "../../../io/block_cache/inflate.ts";
import { snappySize } from "../../../io/block_cache/snappy.ts";
import { type Codec, LARGEST_PAGE } from "../layout.ts";
import type { ParquetLibrary } from "../read/library.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";

/** Maximum compression ratios of the codecs that have one. */
const RATIOS: Readonly<Partial<Record<Codec, number>>> = {
  SNAPPY: 64, // 64 bytes for 3
  GZIP: 1032, // 258 bytes for 2 bits
  LZ4: 256, // 255 for each byte more of a length
  LZ4_RAW: 256,
};

/** Codecs that `node:zlib` decompresses. */
const BY_NODE = { GZIP: "gzip", BROTLI: "brotli", ZSTD: "zstd" } as const;

/**
 * Decompresses a page, or just its values. Uncompressed bytes are returned as they are.
 *
 * @param size Declared size. Memory is allocated only for what the compressed data can yield.
 */
export function* decompressPage(
  bytes: Uint8Array,
  codec: Codec,
  size: number,
  library: ParquetLibrary,
): Steps<Uint8Array> {
  if (!(size >= 0)) throw new CellFault(`would have ${size} bytes`);
  if (size > LARGEST_PAGE) {
    throw new CellFault(
      `would have ${size} bytes, more than the limit of ${LARGEST_PAGE}. ` +
        "Write it in smaller pages",
      "too-large",
    );
  }
  if (codec === "UNCOMPRESSED") {
    if (bytes.length === size) return bytes;
    throw new CellFault(`has ${bytes.length} bytes, and should have ${size}`);
  }
  if (codec === "LZO") {
    throw new CellFault(
      "is compressed by LZO, which is unsupported",
      "unsupported",
    );
  }
  const ratio = RATIOS[codec];
  if (ratio !== undefined && size > ratio * bytes.length + 64) {
    throw new CellFault(
      `would have ${size} bytes of ${bytes.length} by ${codec}, which is ` +
        "impossible",
    );
  }
  if (size === 0) return new Uint8Array(0);
  if (codec === "SNAPPY" || codec === "LZ4" || codec === "LZ4_RAW") {
    return byLibrary(bytes, codec, size, library);
  }
  const fault = (why: string, cause?: unknown) =>
    new CellFault(why, "damaged", cause);
  return yield* decompressed(bytes, BY_NODE[codec], size, fault);
}

function byLibrary(
  bytes: Uint8Array,
  codec: "SNAPPY" | "LZ4" | "LZ4_RAW",
  size: number,
  { snappy, decompressLz4, decompressLz4Raw }: ParquetLibrary,
): Uint8Array {
  if (codec === "LZ4") return decompressLz4(bytes, size);
  if (codec === "LZ4_RAW") return decompressLz4Raw(bytes, size);
  // The library would write as many bytes as the data declares, instead of the requested size.
  const declared = snappySize(bytes);
  if (declared === size) return snappy(bytes, size);
  throw new CellFault(
    `has ${declared} bytes when decompressed, and should have ${size}`,
  );
}
