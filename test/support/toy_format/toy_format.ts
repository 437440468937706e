/**
 * A container format of its own, to be registered: a line `TOY1 SIZE`, the index as JSON in that many bytes,
 * `[[name, label, length, crc32], …]`, and the contents one after the other. Each file is a sample.
 *
 * @module
 */
import {
  type ByteSource,
  type CheckOptions,
  type CheckReport,
  type Container,
  type ContainerOptions,
  type EntryVisitor,
  type Extent,
  type Format,
  type FormatEntry,
  FormatError,
  LOCAL_DISK,
  type NodeStat,
  readPart,
  RecordfsError,
  runAsync,
  type SampleNodes,
  type Steps,
  type Tree,
  type TreeHandle,
  VirtualFs,
} from "../../../src/open/formats.ts";

const HEAD = 14; // "TOY1 00000042\n"
const HEAD_LINE = /^TOY1 (\d{8})\n$/;

interface Entry {
  readonly name: string;
  readonly label: string;
  readonly offset: number;
  readonly length: number;
  readonly crc32: number;
}

export const format: FormatEntry = {
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

const toy: Format = { open, check, readLabels };

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The tree of a container: all files are in the root, file i is node i + 2. */
class ToyTree implements Tree {
  readonly sources: readonly ByteSource[];
  readonly entries: readonly Entry[];
  readonly #names: readonly Uint8Array[];
  readonly #byName: ReadonlyMap<string, number>;
  readonly #mtime: number;

  constructor(sources: ByteSource[], entries: readonly Entry[], mtime: number) {
    this.sources = sources;
    this.entries = entries;
    this.#names = entries.map(({ name }) => new TextEncoder().encode(name));
    this.#byName = new Map(entries.map(({ name }, i) => [name, i + 2]));
    this.#mtime = mtime;
  }

  get nodeCount(): number {
    return this.entries.length + 1;
  }

  lookup(dir: number, name: Uint8Array, start: number, end: number): number {
    if (dir !== 1) return 0;
    return this.#byName.get(text(name.slice(start, end))) ?? 0;
  }

  parent(): number {
    return 1;
  }

  isDirectory(node: number): boolean {
    return node === 1;
  }

  list(dir: number, cursor: number, visit: EntryVisitor): void {
    if (dir !== 1) return;
    for (let i = cursor; i < this.#names.length; i++) {
      const name = this.#names[i]!;
      if (!visit(name, 0, name.length, i + 2, i + 1)) return;
    }
  }

  stat(node: number, into: NodeStat): boolean {
    into.isDirectory = node === 1;
    into.mtime = this.#mtime;
    into.size = this.entries[node - 2]?.length ?? 0;
    return into.isDirectory || this.entries[node - 2] !== undefined;
  }

  locate(node: number, into: Extent): boolean {
    const entry = this.entries[node - 2];
    if (entry === undefined) return false;
    const { offset, length, crc32: checksum } = entry;
    const checksumKind = "crc32";
    Object.assign(into, { source: 0, offset, length, checksumKind, checksum });
    return true;
  }

  sampleOf(node: number): number {
    return node - 2;
  }

  samples(): SampleNodes {
    const count = this.entries.length;
    return { areDirectories: false, runs: [{ first: 2, stride: 1, count }] };
  }

  nameOf(node: number, into: Uint8Array): number {
    const name = this.#names[node - 2] ?? new Uint8Array(0);
    into.set(name);
    return name.length;
  }

  share(): TreeHandle {
    const data = { entries: this.entries, mtime: this.#mtime };
    return { module: import.meta.url, data };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }
}

/** Makes the tree again in a thread that serves it, which has its own sources. */
export function reopenTree(data: unknown): Tree {
  const { entries, mtime } = data as { entries: Entry[]; mtime: number };
  return new ToyTree([], entries, mtime);
}

function* open(path: string, options: ContainerOptions): Steps<Container> {
  const source = yield* (options.storage ?? LOCAL_DISK).open(path);
  try {
    const entries = yield* readIndex(path, source);
    const tree = new ToyTree([source], entries, source.mtime);
    const [files, bytes] = [entries.length, source.size];
    const parts = [{ path, bytes, samples: files }];
    const info = { format: "toy", kind: "box", files, directories: 0 };
    return { tree, info: { ...info, bytes, parts } };
  } catch (error) {
    source.close();
    throw error;
  }
}

function* readIndex(path: string, source: ByteSource): Steps<Entry[]> {
  const damaged = (why: string) =>
    new FormatError("bad-index", `${path}: ${why}`, { path });
  const head = yield* readPart(source, 0, Math.min(HEAD, source.size));
  const size = Number(HEAD_LINE.exec(text(head))?.[1]);
  if (!(HEAD + size <= source.size)) throw damaged("its index is cut off");
  const index = text(yield* readPart(source, HEAD, size));
  let offset = HEAD + size;
  const entries = rowsOf(index)?.map(([name, label, length, crc32]) => {
    offset += length;
    return { name, label, offset: offset - length, length, crc32 };
  });
  if (entries === undefined) throw damaged("its index is not what one is");
  if (offset === source.size) return entries;
  throw damaged(`it has ${source.size} bytes, and its index says ${offset}`);
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

async function check(
  path: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const { tree, info } = await runAsync(open(path, options));
  using fs = new VirtualFs(path, { tree, info }, true);
  let damaged = 0;
  for (const [i, { name }] of (tree as ToyTree).entries.entries()) {
    try {
      await fs.read(name, options);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      damaged++;
      options.onDamage(error);
    }
    options.onProgress?.(i + 1, info.files);
  }
  return { samples: info.files, bytes: info.bytes, damaged };
}

// deno-lint-ignore require-await -- labels are in the index
async function readLabels({ tree, location }: VirtualFs, label: string) {
  if (label !== "label") {
    const message = `Samples of ${location} have no label '${label}'`;
    throw new RecordfsError("no-label", message, { path: location });
  }
  return ReadableStream.from((tree as ToyTree).entries.map((e) => e.label));
}
