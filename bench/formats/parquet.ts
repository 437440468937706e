/**
 * Reads images from Parquet in sequence and at random, compared with `hyparquet` alone, which decodes the pages; and
 * random rows with and without the cache of decoded pages.
 *
 * The file has one column of bytes in row groups of 100 rows and pages of 10, in Snappy literals: like JPEGs, its
 * content does not compress.
 *
 *   deno run -A bench/formats/parquet.ts [--rows N] [--size BYTES] [--rounds N] [--dir FOLDER] [--json]
 *
 * @module
 */
import { openRows } from "../../test/support/parquet/open_rows.ts";
import type { TableRow } from "../../src/tree/rows/row_samples.ts";
import type { OpenedSamples } from "../../src/open/samples/opened_samples.ts";
import * as fs from "node:fs";
import type { AsyncBuffer } from "hyparquet";
import { PACKAGES } from "../../src/base/packages.ts";
import {
  dataPage,
  type Page,
  writeBytesFile,
} from "../../test/support/parquet/make_parquet.ts";
import { varint } from "../../test/support/parquet/thrift.ts";
import { rowsBesideFirst } from "../support/beside_first.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { Workspace } from "../support/workspace.ts";

const BATCH = 64;
const PAGE_ROWS = 10;
const GROUP_PAGES = 10;
/** Thrift id of the codec Snappy. */
const SNAPPY = 1;
/** Bytes of a literal. */
const LITERAL = 1 << 16;

/** `parquet`: images in sequence and at random. */
export const parquetBenchmark: Benchmark = { name: "parquet", run };

type Hyparquet = typeof import("hyparquet");
type Compressors = typeof import("hyparquet-compressors");

async function run(args: string[]): Promise<Row[]> {
  const { numbers, dir } = parseOptions(args, {
    rows: 1000,
    size: 100_000,
    rounds: 5,
  });
  const { size, rounds } = numbers;
  const group = PAGE_ROWS * GROUP_PAGES;
  const rows = Math.max(1, Math.round(numbers.rows / group)) * group;
  await using workspace = await Workspace.create(dir, rows * size);
  const path = workspace.file("pictures.parquet");
  progress(`parquet: writing ${rows} pictures of ${size} bytes`);
  writePictures(path, rows, size);
  const { parquetReadObjects, parquetMetadataAsync }: Hyparquet = await import(
    PACKAGES.hyparquet
  );
  const { compressors }: Compressors = await import(
    PACKAGES.hyparquetCompressors
  );
  const file = bufferOf(path);
  const metadata = await parquetMetadataAsync(file);
  const alone = async (rowStart: number, rowEnd: number) => {
    const options = {
      file,
      metadata,
      compressors,
      utf8: false,
      useOffsetIndex: true,
    };
    return await parquetReadObjects({ ...options, rowStart, rowEnd });
  };
  using reader = await openRows(path);
  using uncached = await openRows(path, { pageCacheSize: 0 });
  const order = shuffled(rows);
  const ours = async (reader: OpenedSamples<TableRow, TableRow>) => {
    for (const row of order) await reader.read(row);
  };
  const sequence = [
    {
      name: "openSamples().batches of 64, nothing kept before",
      async pass() {
        using reader = await openRows(path);
        for await (const rows of reader.batches({ batch: BATCH })) touch(rows);
      },
    },
    {
      name: "hyparquet alone, a row group at a time",
      target: 0.8,
      async pass() {
        for (let start = 0; start < rows; start += group) {
          touch(await alone(start, start + group));
        }
      },
    },
  ];
  const random = [
    { name: "openSamples().read, pages kept", pass: () => ours(reader) },
    {
      name: "openSamples().read, no pages kept",
      target: 5,
      pass: () => ours(uncached),
    },
    {
      name: "hyparquet alone, a row at a time",
      async pass() {
        for (const row of order.slice(0, 100)) touch(await alone(row, row + 1));
      },
      rows: Math.min(100, rows),
    },
  ];
  await ours(reader);
  const total = rows * size / 1e6;
  return [
    ...await compare("in sequence", "MB/s", total, sequence, rounds),
    ...await compare("at random", "rows/s", rows, random, rounds),
  ];
}

interface Contender {
  readonly name: string;
  readonly target?: number;
  /** Rows a pass, if not all. */
  readonly rows?: number;
  pass(): Promise<void>;
}

async function compare(
  what: string,
  unit: string,
  total: number,
  contenders: readonly Contender[],
  rounds: number,
): Promise<Row[]> {
  const taken = await alternate(contenders, rounds, async ({ name, pass }) => {
    progress(`parquet: ${name}`);
    const start = performance.now();
    await pass();
    return performance.now() - start;
  });
  const rates = contenders.map(({ rows }, i) =>
    taken[i]!.map((ms) => 1000 * (rows ?? total) / ms)
  );
  const measured = `parquet, pictures ${what}`;
  return rowsBesideFirst(measured, unit, contenders, rates);
}

function writePictures(path: string, rows: number, size: number): void {
  const picture = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) {
    crypto.getRandomValues(picture.subarray(at, at + 65_536));
  }
  const page = (first: number): Page => {
    const plain = new Uint8Array(PAGE_ROWS * (4 + size));
    const view = new DataView(plain.buffer);
    for (let i = 0; i < PAGE_ROWS; i++) {
      const at = i * (4 + size);
      view.setUint32(at, size, true);
      plain.set(picture, at + 4);
      view.setUint32(at + 4, first + i, true);
    }
    const body = literals(plain);
    const header = dataPage([], PAGE_ROWS, {
      page: { 2: { i32: plain.length }, 3: { i32: body.length } },
    });
    return { header, body, rows: PAGE_ROWS };
  };
  const groups = Array.from(
    { length: rows / (PAGE_ROWS * GROUP_PAGES) },
    (_, g) =>
      Array.from(
        { length: GROUP_PAGES },
        (_, p) => page((g * GROUP_PAGES + p) * PAGE_ROWS),
      ),
  );
  fs.writeFileSync(
    path,
    writeBytesFile(groups, { isIndexed: true, codec: SNAPPY }),
  );
}

/** Encodes bytes as Snappy literals (github.com/google/snappy, format_description.txt). */
function literals(bytes: Uint8Array): Uint8Array {
  const head = varint(bytes.length);
  const count = Math.ceil(bytes.length / LITERAL);
  const made = new Uint8Array(head.length + 3 * count + bytes.length);
  made.set(head);
  let at = head.length;
  for (let done = 0; done < bytes.length; done += LITERAL) {
    const part = bytes.subarray(done, done + LITERAL);
    const length = part.length - 1;
    made.set([61 << 2, length & 0xff, length >> 8], at);
    made.set(part, at + 3);
    at += 3 + part.length;
  }
  return made;
}

function bufferOf(path: string): AsyncBuffer {
  const { size: byteLength } = fs.statSync(path);
  const fd = fs.openSync(path, "r");
  return {
    byteLength,
    slice(start, end = byteLength) {
      const bytes = new Uint8Array(end - start);
      fs.readSync(fd, bytes, 0, bytes.length, start);
      return bytes.buffer;
    },
  };
}

/** Accesses the values, so that lazy contenders have to create them too. */
function touch(rows: readonly Record<string, unknown>[]): void {
  for (const { data } of rows) {
    if (!(data instanceof Uint8Array)) throw new Error("no picture");
  }
}

function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1, seed = 1; i > 0; i--) {
    seed = Math.imul(seed, 1_103_515_245) + 12_345 >>> 0;
    const k = seed % (i + 1);
    [order[i], order[k]] = [order[k]!, order[i]!];
  }
  return order;
}

if (import.meta.main) await runAlone(parquetBenchmark);
