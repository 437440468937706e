/**
 * SafeTensors (github.com/huggingface/safetensors, README, "Format"): the length of a header, the header, which is an
 * object of JSON, and the data of all tensors, without gaps. Numbers are little-endian.
 *
 * @module
 */

/** Bytes of the header's length. */
export const LENGTH = 8;
/** Limit of a header in bytes (`MAX_HEADER_SIZE` of the original). */
export const LARGEST_HEADER = 100_000_000;

/** Maximum number of tensors of a file: each costs memory many times its bytes in the header. */
export const MOST_TENSORS = 250_000;
/** Key of the header's texts. */
export const METADATA = "__metadata__";

/** Whether a file is one of tensors, by its name. */
export function isTensors(name: string): boolean {
  return /\.safetensors$/i.test(name);
}

/** Whether a file says which tensors are in which files, by its name. */
export function isIndex(name: string): boolean {
  return /\.safetensors\.index\.json$/i.test(name);
}

/** Element types by their names in headers (`Dtype` of the original): NumPy's, or the bits of those that it lacks. */
export const ELEMENT_TYPES: ReadonlyMap<string, string | number> = new Map(
  Object.entries({
    ...{ BOOL: "|b1", U8: "|u1", I8: "|i1", U16: "<u2", I16: "<i2" },
    ...{ U32: "<u4", I32: "<i4", U64: "<u8", I64: "<i8" },
    ...{ F16: "<f2", F32: "<f4", F64: "<f8", C64: "<c8" },
    ...{ BF16: 16, F8_E4M3: 8, F8_E5M2: 8, F8_E8M0: 8 },
    ...{ F8_E4M3FNUZ: 8, F8_E5M2FNUZ: 8, F6_E2M3: 6, F6_E3M2: 6, F4: 4 },
  }),
);
