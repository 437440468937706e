/**
 * A container format of its own, to be registered: a line `TOY1 SIZE`, the index as JSON in that many bytes,
 * `[[name, label, length, crc32], …]`, and the contents one after the other. Each file is a sample.
 *
 * @module
 */
import { type ByteSource } from "../../../src/io/storage/byte_source.ts";
import {
  type Container,
  type Format,
  type FormatDescriptor,
  listedTree,
  readPart,
} from "../../../src/open/formats.ts";
import {
  type ContainerInfo,
  type ContainerOptions,
} from "../../../src/tree/format.ts";
import { FormatError, RecordfsError } from "../../../src/base/errors.ts";
import { LOCAL_DISK } from "../../../src/io/storage/storage.ts";
import { type Steps } from "../../../src/io/concurrency/steps.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";

const HEAD = 14; // "TOY1 00000042\n"
const HEAD_LINE = /^TOY1 (\d{8})\n$/;

export const format: FormatDescriptor = {
  name: "toy",
  description: "Toys: files with labels, for tests",
  suffixes: [".toy"],
  *detect({ names, size, read }) {
    if (names !== undefined || size < HEAD) return false;
    return HEAD_LINE.test(text(yield* read(0, HEAD)));
  },
  countSamples: ({ files }) => ({ unit: "samples", length: files }),
  load: () => Promise.resolve(toy),
};

const toy: Format = { open, readLabels };

/** The labels of the files of each container. */
const labels = new WeakMap<ContainerInfo, readonly string[]>();

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function* open(path: string, options: ContainerOptions): Steps<Container> {
  const source = yield* (options.storage ?? LOCAL_DISK).open(path);
  try {
    const rows = yield* readIndex(path, source);
    let offset = source.size - rows.reduce((sum, row) => sum + row[2], 0);
    const listed = rows.map(([name, , length, crc32]) => {
      offset += length;
      return { name, offset: offset - length, length, crc32 };
    });
    const tree = listedTree(source, listed);
    const [files, bytes] = [rows.length, source.size];
    const parts = [{ path, bytes, samples: files }];
    const kind = { format: "toy", kind: "box", directories: 0 };
    const info: ContainerInfo = { ...kind, files, bytes, parts };
    labels.set(info, rows.map(([, label]) => label));
    return { tree, info };
  } catch (error) {
    source.close();
    throw error;
  }
}

function* readIndex(
  path: string,
  source: ByteSource,
): Steps<readonly Row[]> {
  const damaged = (why: string) =>
    new FormatError("bad-index", `${path}: ${why}`, { path });
  const head = yield* readPart(source, 0, Math.min(HEAD, source.size));
  const size = Number(HEAD_LINE.exec(text(head))?.[1]);
  if (!(HEAD + size <= source.size)) throw damaged("its index is cut off");
  const index = text(yield* readPart(source, HEAD, size));
  const rows = rowsOf(index);
  if (rows === undefined) throw damaged("its index is not what one is");
  const end = rows.reduce((end, row) => end + row[2], HEAD + size);
  if (end === source.size) return rows;
  throw damaged(`it has ${source.size} bytes, and its index says ${end}`);
}

type Row = readonly [string, string, number, number];

/** The rows of an index; `undefined` if it is none. */
function rowsOf(index: string): readonly Row[] | undefined {
  try {
    const rows: unknown = JSON.parse(index);
    return Array.isArray(rows) && rows.every(isRow) ? rows : undefined;
  } catch {
    return undefined;
  }
}

function isRow(row: unknown): row is Row {
  if (!Array.isArray(row) || row.length !== 4) return false;
  const [name, label, ...numbers] = row;
  return typeof name === "string" && /^(?!\.\.?$)[^/\0]+$/.test(name) &&
    typeof label === "string" &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
}

// deno-lint-ignore require-await -- labels are in the index
async function readLabels({ info, location }: VirtualFs, label: string) {
  if (label !== "label") {
    const message = `Samples of ${location} have no label '${label}'`;
    throw new RecordfsError("no-label", message, { path: location });
  }
  return ReadableStream.from(labels.get(info)!);
}
