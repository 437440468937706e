import type { Steps } from "../concurrency/steps.ts";
import { readPart } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";

/** A compression of whole files. */
export interface Compression {
  readonly name:
    | "brotli"
    | "bzip2"
    | "compress"
    | "deflate"
    | "gzip"
    | "lz4"
    | "lz4 -l"
    | "lzip"
    | "lzo"
    | "xz"
    | "zlib"
    | "zstd";
  /**
   * First bytes of a file; several of them, if a file may begin in several ways; none, if a file may begin with any
   * bytes.
   */
  readonly magics: readonly (readonly number[])[];
  /** Suffixes of compressed files. */
  readonly suffixes: readonly string[];
  /** Suffixes that also stand for `.tar`, such as `.tgz`. */
  readonly tarSuffixes: readonly string[];
  /** Command that decompresses a file to standard output. */
  readonly command: string;
  /** Whether files are read without decompressing them first. */
  readonly isRead: boolean;
}

/**
 * Compressions that are recognised by their first bytes: RFC 1952 (gzip), RFC 8878 (zstd), and the format descriptions
 * of the others.
 */
export const COMPRESSIONS: readonly Compression[] = [
  {
    name: "gzip",
    magics: [[0x1f, 0x8b, 0x08]],
    suffixes: [".gz", ".gzip", ".bgz"],
    tarSuffixes: [".tgz"],
    command: "gzip -dc",
    isRead: true,
  },
  {
    name: "zstd",
    magics: [[0x28, 0xb5, 0x2f, 0xfd]],
    suffixes: [".zst", ".zstd"],
    tarSuffixes: [".tzst"],
    command: "zstd -dc",
    isRead: true,
  },
  {
    name: "zlib",
    magics: [], // that of zlibHead says little
    suffixes: [".zlib", ".zz"],
    tarSuffixes: [],
    command: "zlib-flate -uncompress",
    isRead: true,
  },
  {
    name: "bzip2",
    magics: [[0x42, 0x5a, 0x68]],
    suffixes: [".bz2"],
    tarSuffixes: [".tbz2", ".tbz"],
    command: "bzip2 -dc",
    isRead: true,
  },
  {
    name: "xz",
    magics: [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
    suffixes: [".xz"],
    tarSuffixes: [".txz"],
    command: "xz -dc",
    isRead: true,
  },
  {
    name: "lz4",
    magics: [[0x04, 0x22, 0x4d, 0x18]],
    suffixes: [".lz4"],
    tarSuffixes: [".tlz4"],
    command: "lz4 -dc",
    isRead: true,
  },
  {
    name: "lz4 -l",
    magics: [[0x02, 0x21, 0x4c, 0x18]],
    suffixes: [],
    tarSuffixes: [],
    command: "lz4 -dc",
    isRead: false,
  },
  {
    name: "lzip",
    magics: [[0x4c, 0x5a, 0x49, 0x50]],
    suffixes: [".lz"],
    tarSuffixes: [".tlz"],
    command: "lzip -dc",
    isRead: false,
  },
  {
    name: "lzo",
    magics: [[0x89, 0x4c, 0x5a, 0x4f, 0x00, 0x0d, 0x0a, 0x1a, 0x0a]],
    suffixes: [".lzo"],
    tarSuffixes: [".tzo"],
    command: "lzop -dc",
    isRead: false,
  },
  {
    name: "compress",
    magics: [[0x1f, 0x9d]],
    suffixes: [".Z"],
    tarSuffixes: [".taZ"],
    command: "gzip -dc",
    isRead: false,
  },
];

/** Compressions of parts of containers, which have no magic. */
export const INNER_COMPRESSIONS: Readonly<
  Record<"brotli" | "deflate", Compression>
> = {
  brotli: inner("brotli", "brotli -dc"),
  deflate: inner("deflate", "unzip -p"),
};

function inner(name: Compression["name"], command: string): Compression {
  const none = { magics: [], suffixes: [], tarSuffixes: [] };
  return { name, ...none, command, isRead: true };
}

/** Longest magic in bytes. */
export const LONGEST_MAGIC = Math.max(
  ...COMPRESSIONS.flatMap(({ magics }) => magics.map(({ length }) => length)),
);

/** Returns how a file is compressed, by its first bytes; `undefined` if it is not. */
export function compressionOf(head: Uint8Array): Compression | undefined {
  return COMPRESSIONS.find(({ magics }) =>
    magics.some((magic) => magic.every((byte, i) => head[i] === byte))
  );
}

/** Header of a skippable frame, which zstd (RFC 8878, 3.1.2) and lz4 have in common, and most of them before another. */
const SKIPPABLE_HEADER = 8;
const MOST_SKIPPABLE = 16;

/**
 * Returns how a file is compressed, by its first bytes; if these are skippable frames, with which pzstd begins, by those
 * behind.
 */
export function* compressionOfFile(
  source: ByteSource,
): Steps<Compression | undefined> {
  let at = 0;
  for (let frame = 0; frame <= MOST_SKIPPABLE; frame++) {
    const length = Math.min(source.size - at, LONGEST_MAGIC);
    const head = yield* readPart(source, at, length);
    const isSkippable = head[0]! >> 4 === 5 && head[1] === 0x2a &&
      head[2] === 0x4d && head[3] === 0x18 && length >= SKIPPABLE_HEADER;
    if (!isSkippable) {
      const compression = compressionOf(head);
      if (at === 0 || compression?.name === "lz4") return compression;
      break;
    }
    const view = new DataView(head.buffer, head.byteOffset);
    at += SKIPPABLE_HEADER + view.getUint32(4, true);
    if (at >= source.size) break;
  }
  return COMPRESSIONS.find(({ name }) => name === "zstd");
}

/** Encoded bytes from which the first decoded ones are taken: more than the table of codes of a block. */
const ZLIB_START = 1 << 10;
const MOST_INFLATED = 2 << 20;
const ADLER32 = 4;

/**
 * Returns the first bytes that a zlib stream (RFC 1950) decodes to; `undefined` if the file does not begin like one, as
 * every 500th file does.
 */
export function* zlibHead(
  source: ByteSource,
): Steps<Uint8Array | undefined> {
  const length = Math.min(source.size, ZLIB_START);
  const start = yield* readPart(source, 0, length);
  const [method = 0, flags = 0] = start;
  if (method !== 0x78 || (method << 8 | flags) % 31 !== 0) return undefined;
  const { constants, inflateSync } = process.getBuiltinModule("node:zlib");
  try {
    // Its checksum, if that is there, is compared later.
    return inflateSync(start.subarray(0, -ADLER32), {
      finishFlush: constants.Z_SYNC_FLUSH, // it is not the whole stream
      maxOutputLength: MOST_INFLATED,
    });
  } catch {
    return undefined;
  }
}

/** Returns a name without its suffix of a compression: `x.tar` for `x.tar.gz` and `x.tgz`; unchanged without one. */
export function decompressedName(name: string): string {
  for (const { suffixes, tarSuffixes } of COMPRESSIONS) {
    const plain = withoutSuffix(name, suffixes);
    if (plain !== undefined) return plain;
    const tar = withoutSuffix(name, tarSuffixes);
    if (tar !== undefined) return `${tar}.tar`;
  }
  return name;
}

function withoutSuffix(
  name: string,
  suffixes: readonly string[],
): string | undefined {
  const suffix = suffixes.find((suffix) =>
    name.length > suffix.length && !name.endsWith(`/${suffix}`) &&
    name.toLowerCase().endsWith(suffix.toLowerCase())
  );
  return suffix && name.slice(0, -suffix.length);
}
