// deno-lint-ignore-file camelcase -- keys of an index
/** Makes chunks and indexes of LitData, valid and invalid. */
import { Buffer } from "node:buffer";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";

/** Name of a field, and of its serializer. */
export type MadeField = readonly [name: string, format: string];

/** Fields of samples of a number and a text. */
export const FIELDS: readonly MadeField[] = [["n", "int"], ["t", "str"]];

/** Returns a sample: the sizes of its values, and then the values. */
export function sampleOf(...values: readonly Uint8Array[]): Buffer {
  const sizes = Uint32Array.from(values, ({ length }) => length);
  return Buffer.concat([new Uint8Array(sizes.buffer), ...values]);
}

/** Returns a sample of a number and a text. */
export function textSample(n: number, text: string): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigInt64LE(BigInt(n));
  return sampleOf(number, Buffer.from(text));
}

/**
 * Returns a chunk. `change` may falsify its table: the number of samples, and their offsets with the end of the last.
 */
export function chunkOf(
  samples: readonly Uint8Array[],
  change: (numbers: number[]) => number[] = (numbers) => numbers,
): Buffer {
  let at = 4 * (samples.length + 2);
  const numbers = [samples.length, at];
  for (const { length } of samples) numbers.push(at += length);
  const words = Uint32Array.from(change(numbers));
  return Buffer.concat([new Uint8Array(words.buffer), ...samples]);
}

/** Returns the entry of a chunk in an index. */
export function entryOf(
  filename: string,
  bytes: number,
  samples: number,
): Record<string, unknown> {
  return { chunk_bytes: bytes, chunk_size: samples, dim: null, filename };
}

const LEAF = { type: null, context: null, children_spec: [] };

/** Returns an index of chunks whose samples are dictionaries of fields. `config` overrides entries. */
export function indexOf(
  chunks: readonly unknown[],
  fields: readonly MadeField[] = FIELDS,
  config: Readonly<Record<string, unknown>> = {},
): string {
  const context = JSON.stringify(fields.map(([name]) => name));
  const children = fields.map(() => LEAF);
  const spec = { type: "builtins.dict", context, children_spec: children };
  return JSON.stringify({
    chunks,
    config: {
      compression: null,
      data_format: fields.map(([, format]) => format),
      data_spec: JSON.stringify([1, spec]),
      encryption: null,
      item_loader: "PyTreeLoader",
      ...config,
    },
  });
}

/** File name of the only chunk of most datasets made here. */
export const NAME = "chunk-0-0.bin";

/** Returns a storage with an index and chunks in the directory `d`. */
export function datasetOf(
  index: string,
  chunks: Readonly<Record<string, Uint8Array>>,
): MemoryStorage {
  return new MemoryStorage(Object.fromEntries(
    Object.entries({ "index.json": Buffer.from(index), ...chunks })
      .map(([name, bytes]) => [`d/${name}`, bytes]),
  ));
}
