/** Compresses files by common programs, and by hand where these do not write a variant. */
import assert from "node:assert/strict";
import { Sfc32 } from "../../src/data/random/random.ts";
import { PYTHON } from "./programs/programs.ts";

/** Pipes input through a program and returns its standard output. */
export async function piped(
  input: Uint8Array,
  command: string,
  ...args: string[]
): Promise<Uint8Array<ArrayBuffer>> {
  const child = new Deno.Command(command, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writing = (async () => {
    const writer = child.stdin.getWriter();
    await writer.write(input);
    await writer.close();
  })();
  const { stdout, stderr, success } = await child.output();
  await writing;
  assert.ok(success, new TextDecoder().decode(stderr));
  return stdout as Uint8Array<ArrayBuffer>;
}

/** Runs Python code that turns the bytes `data` into the bytes `out`. */
export function pythonMakes(
  input: Uint8Array,
  code: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const program =
    `import sys\ndata = sys.stdin.buffer.read()\n${code}\nsys.stdout.buffer.write(out)`;
  return piped(input, PYTHON, "-c", program);
}

export function joined(
  ...parts: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Splits bytes into pieces of a length; the last may be shorter. */
export function pieces(bytes: Uint8Array, length: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / length);
  return Array.from(
    { length: count },
    (_, i) => bytes.subarray(i * length, (i + 1) * length),
  );
}

/** Returns bytes that alternate between random, compressible and repetitive runs. */
export function mixedBytes(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const random = new Sfc32(seed, 2, 3);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const run = Math.min(1 + random.next() % 50_000, length - at);
    const kind = random.next() % 3;
    for (let i = at; i < at + run; i++) {
      if (kind === 0) bytes[i] = random.next();
      else if (kind === 1) bytes[i] = 97 + random.next() % 4;
      else bytes[i] = i < 999 ? i : bytes[i - 999]! + (i % 97 === 0 ? 1 : 0);
    }
    at += run;
  }
  return bytes;
}

/** Compresses pieces to zstd frames, and appends the table of the seekable format (zstd, contrib/seekable_format). */
export async function seekableZstd(
  bytes: Uint8Array,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts = pieces(bytes, length);
  const frames = await Promise.all(
    parts.map((part) => piped(part, "zstd", "-c")),
  );
  const table = new DataView(new ArrayBuffer(8 + 8 * frames.length + 9));
  table.setUint32(0, 0x184d2a5e, true);
  table.setUint32(4, table.byteLength - 8, true);
  for (const [i, frame] of frames.entries()) {
    table.setUint32(8 + 8 * i, frame.length, true);
    table.setUint32(12 + 8 * i, parts[i]!.length, true);
  }
  const end = 8 + 8 * frames.length;
  table.setUint32(end, frames.length, true);
  table.setUint32(end + 5, 0x8f92eab1, true);
  return joined(...frames, new Uint8Array(table.buffer));
}

/** A way to compress, and the programs that it needs. */
export interface CompressedCase {
  readonly name: string;
  readonly needs: readonly string[];
  readonly make: (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>;
}

const MEMBER = 1 << 20;

async function each(
  bytes: Uint8Array,
  command: string,
  ...args: string[]
): Promise<Uint8Array<ArrayBuffer>> {
  const members = pieces(bytes, MEMBER)
    .map((piece) => piped(piece, command, ...args));
  return joined(...await Promise.all(members));
}

export const COMPRESSED_CASES: readonly CompressedCase[] = [
  {
    name: "gzip",
    needs: ["gzip"],
    make: (bytes) => piped(bytes, "gzip", "-c"),
  },
  {
    name: "gzip -1",
    needs: ["gzip"],
    make: (bytes) => piped(bytes, "gzip", "-1", "-c"),
  },
  {
    name: "gzip, several members",
    needs: ["gzip"],
    make: (bytes) => each(bytes, "gzip", "-c"),
  },
  {
    name: "gzip, empty members and zeros at the end",
    needs: ["gzip"],
    make: async (bytes) => {
      const none = await piped(new Uint8Array(0), "gzip", "-c");
      const half = bytes.length >> 1;
      return joined(
        none,
        none,
        await piped(bytes.subarray(0, half), "gzip", "-c"),
        none,
        await piped(bytes.subarray(half), "gzip", "-c"),
        none,
        new Uint8Array(10_000),
      );
    },
  },
  {
    name: "gzip of Python, stored and with a name",
    needs: ["python3"],
    make: (bytes) =>
      pythonMakes(
        bytes,
        "import gzip, io\nbuffer = io.BytesIO()\nwith gzip.GzipFile('a name', 'wb', 0, buffer) as file:\n file.write(data)\nout = buffer.getvalue()",
      ),
  },
  { name: "bgzip", needs: ["bgzip"], make: (bytes) => piped(bytes, "bgzip") },
  {
    name: "pigz",
    needs: ["pigz"],
    make: (bytes) => piped(bytes, "pigz", "-c", "-p", "2"),
  },
  {
    name: "zstd",
    needs: ["zstd"],
    make: (bytes) => piped(bytes, "zstd", "-c"),
  },
  {
    name: "zstd --long",
    needs: ["zstd"],
    make: (bytes) => piped(bytes, "zstd", "-c", "--long=27"),
  },
  {
    name: "zstd --no-check -12",
    needs: ["zstd"],
    make: (bytes) => piped(bytes, "zstd", "-c", "--no-check", "-12"),
  },
  {
    name: "zstd, several frames",
    needs: ["zstd"],
    make: (bytes) => each(bytes, "zstd", "-c"),
  },
  {
    name: "zstd, seekable",
    needs: ["zstd"],
    make: (bytes) => seekableZstd(bytes, 300_000),
  },
  {
    name: "pzstd",
    needs: ["zstd"],
    make: (bytes) => piped(bytes, "pzstd", "-q", "-c", "-p", "2"),
  },
  {
    name: "bzip2",
    needs: ["bzip2"],
    make: (bytes) => piped(bytes, "bzip2", "-c"),
  },
  {
    name: "bzip2, several streams",
    needs: ["bzip2"],
    make: (bytes) => each(bytes, "bzip2", "-c"),
  },
  {
    name: "xz",
    needs: ["xz"],
    make: (bytes) => piped(bytes, "xz", "-c", "-1"),
  },
  {
    name: "xz, blocks",
    needs: ["xz"],
    make: (bytes) => piped(bytes, "xz", "-c", "-1", "--block-size=700000"),
  },
  {
    name: "xz, several streams and padding",
    needs: ["xz"],
    make: async (bytes) =>
      joined(
        await piped(bytes.subarray(0, 5_000_000), "xz", "-c", "-0"),
        new Uint8Array(8),
        await piped(new Uint8Array(0), "xz", "-c"),
        await piped(bytes.subarray(5_000_000), "xz", "-c", "-0"),
        new Uint8Array(4),
      ),
  },
  { name: "lz4", needs: ["lz4"], make: (bytes) => piped(bytes, "lz4", "-c") },
  {
    name: "lz4, linked blocks",
    needs: ["lz4"],
    make: (bytes) => piped(bytes, "lz4", "-c", "-BD", "-B4"),
  },
  {
    name: "lz4, behind skippable frames",
    needs: ["lz4"],
    make: async (bytes) =>
      joined(
        Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7),
        Uint8Array.of(0x5a, 0x2a, 0x4d, 0x18, 0, 0, 0, 0),
        await piped(bytes, "lz4", "-c"),
      ),
  },
  {
    name: "lz4, several frames",
    needs: ["lz4"],
    make: (bytes) => each(bytes, "lz4", "-c"),
  },
];
