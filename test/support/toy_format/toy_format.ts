import { FormatError, RecordfsError } from "@recordfs/recordfs";
import {
  type Format,
  type FormatDescriptor,
  listedTree,
  readPart,
} from "@recordfs/recordfs/formats";
import {
  type ByteSource,
  type ContainerInfo,
  LOCAL_DISK,
  type Steps,
} from "@recordfs/recordfs/vfs";

const HEAD = 14; // bytes of the first line: "TOY1 00000042\n"
const HEAD_LINE = /^TOY1 (\d{8})\n$/;

/** What detects the format, and loads the rest when a container is found. */
export const format: FormatDescriptor = {
  name: "toy",
  description: "Toys: files with labels",
  suffixes: [".toy"],
  *detect({ names, size, read }) {
    if (names !== undefined || size < HEAD) return false; // a directory; too short
    return HEAD_LINE.test(text(yield* read(0, HEAD)));
  },
  countSamples: ({ files }) => ({ unit: "samples", length: files }),
  load: () => Promise.resolve(toy),
};

/** Name, label, length in bytes and CRC-32 of a file. */
type Row = readonly [string, string, number, number];

/** Labels of the files of each container. */
const labels = new WeakMap<ContainerInfo, readonly string[]>();

const toy: Format = {
  *open(path, { storage = LOCAL_DISK }) {
    const source = yield* storage.open(path);
    try {
      const rows = yield* readIndex(path, source);
      let end = source.size - rows.reduce((sum, row) => sum + row[2], 0);
      const listed = rows.map(([name, , length, crc32]) => {
        const offset = end;
        end += length;
        return { name, offset, length, crc32 };
      });
      const tree = listedTree(source, listed); // checks names and offsets
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
  },
  // deno-lint-ignore require-await -- the index has the labels
  async readLabels({ info, location }, label) {
    if (label !== "label") {
      const message =
        `Cannot read labels of ${location}: there is no '${label}'`;
      throw new RecordfsError("no-label", message, { path: location });
    }
    return ReadableStream.from(labels.get(info)!);
  },
};

/** Reads the index, and compares what it says with the size of the file before memory is allocated. */
function* readIndex(path: string, source: ByteSource): Steps<readonly Row[]> {
  const damaged = (why: string) =>
    new FormatError("bad-index", `Cannot read ${path}: ${why}`, { path });
  const head = yield* readPart(source, 0, Math.min(HEAD, source.size));
  const size = Number(HEAD_LINE.exec(text(head))?.[1]);
  if (!(HEAD + size <= source.size)) throw damaged("its index is truncated");
  const rows = rowsOf(text(yield* readPart(source, HEAD, size)));
  if (rows === undefined) throw damaged("its index is invalid");
  const end = rows.reduce((end, row) => end + row[2], HEAD + size);
  if (end === source.size) return rows;
  throw damaged(`it has ${source.size} bytes, but its index says ${end}`);
}

/** The rows of an index, or `undefined` if it is invalid. */
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

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
