import {
  type Conversion,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { changedFile, requireSame } from "../../../io/storage/changed_file.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { MAGIC_SIZE, TAIL_SIZE } from "../layout.ts";
import { readFooterBytes } from "../read/footer.ts";
import { Chunk } from "../read/parquet_index.ts";
import type { RowSamples } from "../../../tree/rows/row_samples.ts";
import type { ParquetFile } from "../read/parquet_index.ts";
import {
  decodeThrift,
  encodeThrift,
  I64,
  STRUCT,
  type ThriftField,
  type ThriftList,
  type ThriftStruct,
} from "../write/thrift.ts";

/** Field numbers of Parquet's `parquet.thrift`. */
export const FILE = {
  ...{ schema: 2, rows: 3, groups: 4, metadata: 5, orders: 7 },
  ...{ cipher: 8, key: 9 },
} as const;
const GROUP = { chunks: 1, start: 5, ordinal: 7 } as const;
const CHUNK = { start: 2, meta: 3, indexes: [4, 5, 6, 7] } as const;
const META = { offsets: [9, 10, 11], data: 9, dictionary: 11, bloom: [14, 15] };

const PIECE = 4 << 20;
const TEXT = new TextEncoder();

/**
 * Plans to copy tables to one file, each page as it is stored.
 *
 * @returns `undefined` if their columns differ.
 */
export async function copyTables(
  container: VirtualFs,
  from: string,
  target: string,
): Promise<Conversion | undefined> {
  const samples = container.samples as RowSamples<ParquetFile>;
  const { shards: { shards }, sources } = samples;
  const footers = await footersOf(samples);
  if (footers === undefined) return undefined;
  const notes = new PlanNotes();
  notes.kept.push(
    "columns, their types, encodings and compression, rows and their order",
  );
  notes.changed.push("page indexes and Bloom filters are removed");
  if (shards.length > 1) notes.changed.push("all files become one");
  return {
    from,
    to: "Parquet",
    notes,
    unit: "samples",
    total: container.samples!.shards.length,
    write: (run) => writeCopy(shards, sources, footers, target, run),
  };
}

/** Returns the footers of tables; `undefined` if their columns differ, or there is no table. */
export async function footersOf(
  { shards: { shards }, sources }: RowSamples<ParquetFile>,
): Promise<ThriftStruct[] | undefined> {
  const footers: ThriftStruct[] = [];
  for (const [i, file] of shards.entries()) {
    const source = sources[i]!;
    requireSame(source, file);
    footers.push(decodeThrift(await runAsync(readFooterBytes(source))));
  }
  const [first] = footers;
  if (first === undefined) return undefined;
  const schema = schemaOf(first);
  const isOne = footers.every((footer) => areSame(schema, schemaOf(footer)));
  return isOne ? footers : undefined;
}

async function writeCopy(
  files: readonly ParquetFile[],
  sources: readonly ByteSource[],
  footers: readonly ThriftStruct[],
  target: string,
  run: Run,
): Promise<number> {
  const output = await runAsync(NewFile.create(target), run.signal);
  try {
    let end = await append(output, TEXT.encode("PAR1"), 0);
    const groups: ThriftStruct[] = [];
    let rows = 0;
    for (const [i, file] of files.entries()) {
      for (const [g, group] of groupsOf(footers[i]!).entries()) {
        const start = end;
        for (const chunk of structsIn(group, GROUP.chunks)) {
          const { from, length } = placeOf(chunk, file, g);
          end = await copy(sources[i]!, from, length, output, end, run.signal);
          moveChunk(chunk, BigInt(end - length - from));
        }
        if (group.has(GROUP.start)) setNumber(group, GROUP.start, start);
        const ordinal = group.get(GROUP.ordinal);
        if (ordinal !== undefined) {
          group.set(GROUP.ordinal, {
            ...ordinal,
            value: BigInt(groups.length),
          });
        }
        groups.push(group);
        rows += file.firsts[g + 1]! - file.firsts[g]!;
        run.tell(rows);
      }
    }
    const footer = footerOf(footers[0]!, groups, rows);
    end = await append(output, footer, end);
    const tail = new Uint8Array(TAIL_SIZE);
    new DataView(tail.buffer).setUint32(0, footer.length, true);
    tail.set(TEXT.encode("PAR1"), TAIL_SIZE - MAGIC_SIZE);
    await append(output, tail, end);
    await runAsync(output.file.sync(), run.signal);
    await runAsync(output.publish(), run.signal);
    return rows;
  } finally {
    output.discard();
  }
}

function footerOf(
  first: ThriftStruct,
  groups: readonly ThriftStruct[],
  rows: number,
): Uint8Array<ArrayBuffer> {
  const footer = new Map(first);
  setNumber(footer, FILE.rows, rows);
  const { type } = footer.get(FILE.groups)!.value as ThriftList;
  // An empty list need not say what its items would be.
  const itemType = groups.length === 0 ? type : STRUCT;
  footer.set(FILE.groups, {
    ...footer.get(FILE.groups)!,
    value: { type: itemType, items: groups },
  });
  footer.delete(FILE.cipher);
  footer.delete(FILE.key);
  return encodeThrift(footer);
}

function* copySteps(
  source: ByteSource,
  from: number,
  length: number,
  output: NewFile,
  at: number,
): Steps<void> {
  for (let done = 0; done < length; done += PIECE) {
    const size = Math.min(PIECE, length - done);
    const bytes = yield* readPart(source, from + done, size);
    yield* output.file.writeAt(bytes, at + done);
  }
}

async function copy(
  source: ByteSource,
  from: number,
  length: number,
  output: NewFile,
  at: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  await runAsync(copySteps(source, from, length, output, at), signal);
  return at + length;
}

async function append(
  output: NewFile,
  bytes: Uint8Array<ArrayBuffer>,
  at: number,
): Promise<number> {
  await runAsync(output.file.writeAt(bytes, at));
  return at + bytes.length;
}

/** Returns where a column chunk lies, as the index of the file has found it within the file. */
function placeOf(
  chunk: ThriftStruct,
  { path, chunks, leaves }: ParquetFile,
  group: number,
): { from: number; length: number } {
  const meta = chunk.get(CHUNK.meta)!.value as ThriftStruct;
  const data = numberIn(meta, META.data);
  const dictionary = meta.has(META.dictionary)
    ? numberIn(meta, META.dictionary)
    : 0;
  for (let leaf = 0; leaf < leaves; leaf++) {
    const at = (group * leaves + leaf) * Chunk.FIELDS;
    const from = chunks[at + Chunk.START]!;
    if (from === data || from === dictionary) {
      return { from, length: chunks[at + Chunk.LENGTH]! };
    }
  }
  throw changedFile(path);
}

function moveChunk(chunk: ThriftStruct, delta: bigint): void {
  const meta = chunk.get(CHUNK.meta)!.value as ThriftStruct;
  for (const field of META.offsets) {
    const offset = meta.get(field);
    // Some writers give 0 for a dictionary that there is not.
    if (offset === undefined || offset.value === 0n) continue;
    meta.set(field, { ...offset, value: offset.value as bigint + delta });
  }
  META.bloom.forEach((field) => meta.delete(field));
  setNumber(chunk, CHUNK.start, 0);
  CHUNK.indexes.forEach((field) => chunk.delete(field));
}

function setNumber(struct: ThriftStruct, field: number, value: number): void {
  struct.set(field, { type: I64, value: BigInt(value) });
}

function numberIn(struct: ThriftStruct, field: number): number {
  return Number(struct.get(field)!.value as bigint);
}

function structsIn(struct: ThriftStruct, field: number): ThriftStruct[] {
  return (struct.get(field)!.value as ThriftList).items as ThriftStruct[];
}

function groupsOf(footer: ThriftStruct): ThriftStruct[] {
  return structsIn(footer, FILE.groups);
}

function schemaOf(footer: ThriftStruct): Uint8Array {
  const schema: ThriftField = footer.get(FILE.schema)!;
  return encodeThrift(new Map([[FILE.schema, schema]]));
}

function areSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length &&
    one.every((byte, i) => byte === other[i]);
}
