import type { FlatShape } from "../flatbuffer/read_flatbuffer.ts";
import type { BatchArrays } from "./array_cursor.ts";
import { SCHEMA, type StoredField } from "./schema.ts";

/** Schema of a stream or file (`Schema` of Schema.fbs). */
export interface Schema {
  readonly endianness: number;
  readonly fields: readonly StoredField[];
}

/** Batch of rows, or of the values of a dictionary (`RecordBatch` of Message.fbs). */
export interface Batch extends BatchArrays {
  readonly length: number;
  /** Offsets in the body, and bytes. */
  readonly buffers: readonly (readonly [offset: number, length: number])[];
  readonly compression: { readonly codec: number } | undefined;
}

const NUMBER = ["i64", 0] as const;
const BATCH: FlatShape = {
  length: [0, "i64"],
  nodes: [1, { structs: [NUMBER, NUMBER] }],
  buffers: [2, { structs: [NUMBER, NUMBER] }],
  compression: [3, { table: () => ({ codec: [0, "u8"] }) }],
  views: [4, { structs: [NUMBER] }],
};
const DICTIONARY: FlatShape = {
  id: [0, "i64"],
  data: [1, { table: () => BATCH }],
  isDelta: [2, "bool"],
};

/** Metadata of a message (`Message` of Message.fbs). */
export interface Metadata {
  readonly version: number;
  readonly header:
    | Schema & { readonly kind: 1 }
    | {
      readonly kind: 2;
      readonly id: number;
      readonly data: Batch | undefined;
      readonly isDelta: boolean;
    }
    | Batch & { readonly kind: 3 };
  readonly bodyLength: number;
}

export const METADATA: FlatShape = {
  version: [0, "i16"],
  header: [2, { union: [undefined, SCHEMA, DICTIONARY, BATCH] }],
  bodyLength: [3, "i64"],
};

/** Location of a message by the footer: its offset, bytes of prefix and metadata, and bytes of its body. */
type Location = readonly [
  offset: number,
  metadataLength: number,
  bodyLength: number,
];

/** Footer of a file (`Footer` of File.fbs). */
export interface Footer {
  readonly version: number;
  readonly schema: Schema | undefined;
  readonly dictionaries: readonly Location[];
  readonly batches: readonly Location[];
}

const LOCATION: FlatShape[string][1] = {
  structs: [NUMBER, ["i32", 4], NUMBER],
};

export const FOOTER: FlatShape = {
  version: [0, "i16"],
  schema: [1, { table: () => SCHEMA }],
  dictionaries: [2, LOCATION],
  batches: [3, LOCATION],
};
