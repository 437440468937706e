import { utf8Text } from "../../../base/utf8.ts";
import {
  BadSchema,
  type LogicalType,
  type SchemaElement,
  type StoredType,
} from "../values/schema.ts";

/** Thrift structure: fields by number, which may be of any Thrift type. */
export type Message = Readonly<Record<`field_${number}`, unknown>>;

/** Physical types by number. */
const TYPES: readonly StoredType[] = [
  "BOOLEAN",
  "INT32",
  "INT64",
  "INT96",
  "FLOAT",
  "DOUBLE",
  "BYTE_ARRAY",
  "FIXED_LEN_BYTE_ARRAY",
];

const REPETITIONS = ["REQUIRED", "OPTIONAL", "REPEATED"] as const;

/** Legacy converted types by number. */
const CONVERTED = [
  "UTF8",
  "MAP",
  "MAP_KEY_VALUE",
  "LIST",
  "ENUM",
  "DECIMAL",
  "DATE",
  "TIME_MILLIS",
  "TIME_MICROS",
  "TIMESTAMP_MILLIS",
  "TIMESTAMP_MICROS",
  "UINT_8",
  "UINT_16",
  "UINT_32",
  "UINT_64",
  "INT_8",
  "INT_16",
  "INT_32",
  "INT_64",
  "JSON",
  "BSON",
  "INTERVAL",
] as const;

/** Logical types without parameters, by field number. */
const LOGICAL = {
  1: "STRING",
  2: "MAP",
  3: "LIST",
  4: "ENUM",
  6: "DATE",
  11: "NULL",
  12: "JSON",
  14: "UUID",
  15: "FLOAT16",
} as const;

/** Digits of a second's fraction, by the number of the time unit. */
const DIGITS = { 1: 3, 2: 6, 3: 9 } as const;

/** Column chunk in a footer. Numbers may be of any Thrift type. */
export interface ChunkMessage {
  readonly filePath: string | undefined;
  readonly isEncrypted: boolean;
  readonly hasMeta: boolean;
  readonly type: string;
  /** Names from the column to the leaf. */
  readonly path: readonly string[] | undefined;
  readonly codec: unknown;
  readonly values: unknown;
  readonly size: unknown;
  readonly data: unknown;
  readonly dictionary: unknown;
  readonly index: unknown;
  readonly indexLength: unknown;
  /** Offsets of the chunk's other data: column index, Bloom filter. */
  readonly others: readonly unknown[];
  readonly least: Uint8Array | undefined;
  readonly most: Uint8Array | undefined;
  readonly isLeastExact: boolean;
}

export interface GroupMessage {
  readonly rows: unknown;
  readonly chunks: readonly ChunkMessage[];
}

/** Footer (`FileMetaData` of parquet.thrift), as far as it is used. */
export interface FooterMessage {
  readonly elements: readonly SchemaElement[];
  readonly rows: unknown;
  readonly groups: readonly GroupMessage[];
}

/** Parses the message of a footer. Throws `BadSchema` if parts of it are missing. */
export function footerMessage(footer: Message): FooterMessage {
  return {
    elements: listOf(footer["field_2"], "columns").map(elementOf),
    rows: footer["field_3"],
    groups: listOf(footer["field_4"], "row groups").map((group, number) => ({
      rows: group["field_3"],
      chunks: listOf(group["field_1"], `column chunks in row group ${number}`)
        .map(chunkOf),
    })),
  };
}

function elementOf(element: Message, number: number): SchemaElement {
  const name = textOf(element["field_4"]);
  if (name === undefined) {
    throw new BadSchema(`has no name of column ${number}`);
  }
  const { field_1: type, field_3: repetition, field_6: converted } = element;
  if (type !== undefined && TYPES[type as number] === undefined) {
    throw new BadSchema(
      `has a column '${name}' of the unknown type ${brief(type)}`,
    );
  }
  if (
    repetition !== undefined && REPETITIONS[repetition as number] === undefined
  ) {
    throw new BadSchema(
      `has a column '${name}' with the unknown repetition ` +
        `${brief(repetition)}`,
    );
  }
  return {
    name,
    type: TYPES[type as number],
    length: element["field_2"],
    repetition: REPETITIONS[repetition as number],
    children: element["field_5"],
    converted: CONVERTED[converted as number],
    scale: element["field_7"],
    logical: logicalOf(structOf(element["field_10"]), name),
  };
}

function logicalOf(
  logical: Message | undefined,
  name: string,
): LogicalType | undefined {
  if (logical === undefined) return undefined;
  for (const [number, type] of Object.entries(LOGICAL)) {
    if (logical[`field_${Number(number)}`] !== undefined) return { type };
  }
  const decimal = structOf(logical["field_5"]);
  if (decimal !== undefined) {
    return { type: "DECIMAL", scale: decimal["field_1"] };
  }
  const integer = structOf(logical["field_10"]);
  if (integer !== undefined) {
    return {
      type: "INTEGER",
      isSigned: integer["field_2"] === true,
      bits: integer["field_1"],
    };
  }
  const time = structOf(logical["field_7"]);
  const moment = time ?? structOf(logical["field_8"]);
  if (moment === undefined) return undefined; // defined by a newer version
  const unit = structOf(moment["field_2"]) ?? {};
  for (const [number, digits] of Object.entries(DIGITS)) {
    if (unit[`field_${Number(number)}`] === undefined) continue;
    const type = time === undefined ? "TIMESTAMP" : "TIME";
    return { type, digits, utc: moment["field_1"] === true };
  }
  throw new BadSchema(`has a column '${name}' of times without a unit`);
}

function chunkOf(chunk: Message): ChunkMessage {
  const meta = structOf(chunk["field_3"]);
  const { field_1: type, field_3: path } = meta ?? {};
  const statistics = structOf(meta?.["field_12"]);
  return {
    filePath: textOf(chunk["field_1"]),
    isEncrypted: chunk["field_8"] !== undefined ||
      chunk["field_9"] !== undefined,
    hasMeta: meta !== undefined,
    type: TYPES[type as number] ?? `type ${brief(type)}`,
    path: Array.isArray(path)
      ? path.map((part) => textOf(part) ?? "")
      : undefined,
    codec: meta?.["field_4"],
    values: meta?.["field_5"],
    size: meta?.["field_7"],
    data: meta?.["field_9"],
    dictionary: meta?.["field_11"],
    index: chunk["field_4"],
    indexLength: chunk["field_5"],
    others: [chunk["field_6"], meta?.["field_14"]],
    least: bytesOf(statistics?.["field_6"]),
    most: bytesOf(statistics?.["field_5"]),
    isLeastExact: statistics?.["field_8"] !== false,
  };
}

function listOf(value: unknown, what: string): Message[] {
  const isRight = Array.isArray(value) &&
    value.every((one) => structOf(one) !== undefined);
  if (isRight) return value;
  throw new BadSchema(`has no list of ${what}`);
}

function structOf(value: unknown): Message | undefined {
  const isStruct = typeof value === "object" && value !== null &&
    !Array.isArray(value) && !(value instanceof Uint8Array);
  return isStruct ? value as Message : undefined;
}

function bytesOf(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined;
}

function textOf(value: unknown): string | undefined {
  return value instanceof Uint8Array ? utf8Text(value) : undefined;
}

/** Returns a number of a message if it is an exact integer. */
export function exactNumber(value: unknown): number | undefined {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const number = isNumber ? Number(value) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

export function brief(value: unknown): string {
  if (value === undefined) return "missing";
  return typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : "no number";
}
