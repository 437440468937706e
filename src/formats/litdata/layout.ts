/**
 * LitData (github.com/Lightning-AI/litdata, `src/litdata/streaming/`): an index of chunks, and chunks of samples. Numbers
 * are little-endian.
 *
 * @module
 */

export const INDEX = "index.json";
/** Limit of an index in bytes. */
export const LARGEST_INDEX = 256 << 20;

/** Whether a file is a chunk, by its name: `chunk-0-12.bin`, `chunk-0-12.zstd.bin`. */
export function isChunk(name: string): boolean {
  return /^chunk-\d+-\d+(\.[\w:]+)?\.bin$/.test(name);
}

/** Whether bytes begin an index, even a damaged one: the keys are sorted. */
export function isIndex(head: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(head);
  return /^\s*\{\s*"chunks"\s*:\s*\[\s*(\]|\{\s*"(chunk_bytes|chunk_size|dim|filename)")/
    .test(text);
}

/** NumPy's types of tensors, by their numbers (`_TORCH_DTYPES_MAPPING`); `bfloat16` is raw. */
export const TENSOR_TYPES: readonly string[] = [
  ...["<f4", "<f4", "<f8", "<f8", "<c8", "<c8", "<c16", "<c16", "<f2", "<f2"],
  ...["|V2", "|u1", "|i1", "<i2", "<i2", "<i4", "<i4", "<i8", "<i8", "|b1"],
  "<u2",
];

/** NumPy's types of arrays, by their numbers (`_NUMPY_SCTYPES`): those that are no objects or texts. */
export const ARRAY_TYPES: readonly string[] = [
  ...["|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"],
  ...["<f2", "<f4", "<f8", "<c8", "<c16", "|b1"],
];
