/** Parquet files made by hand (parquet.apache.org/docs/file-format): one column, one row group, and falsified parts. */
import { type Fields, struct, type Thrift } from "./thrift.ts";

/** Falsified parts of a file. */
export interface Lies {
  /** Schema elements after the root. */
  readonly schema?: readonly Fields[];
  readonly root?: Fields;
  /** Fields of the column's metadata, the column chunk, the row group and the footer. */
  readonly meta?: Fields;
  readonly column?: Fields;
  readonly group?: Fields;
  readonly footer?: Fields;
  /** Fields of the page's header, and of its nested data page header. */
  readonly page?: Fields;
  readonly data?: Fields;
  /** Bytes after the page's header. */
  readonly body?: readonly number[];
  /** Maps the real length of the footer to the stored one. */
  readonly footerLength?: (length: number) => number;
  /** Bytes of the column chunk, instead of a single page. */
  readonly chunk?: readonly number[];
  readonly codec?: number;
}

/** Physical types. */
export const Type = {
  INT32: 1,
  INT64: 2,
  INT96: 3,
  BYTE_ARRAY: 6,
  FIXED: 7,
} as const;

/** Returns a data page of version 1, with its header. */
export function dataPage(
  body: readonly number[],
  values: number,
  { page, data }: Lies = {},
): number[] {
  const head: Fields = {
    1: { i32: 0 },
    2: { i32: body.length },
    3: { i32: body.length },
    5: {
      struct: {
        1: { i32: values },
        2: { i32: 0 },
        3: { i32: 3 },
        4: { i32: 3 },
        ...data,
      },
    },
  };
  return [...struct({ ...head, ...page }), ...body];
}

/** Returns a dictionary page with its header, and the header's length. */
export function dictionaryPage(
  body: readonly number[],
  values: number,
): { readonly page: readonly number[]; readonly header: number } {
  const header = struct({
    1: { i32: 2 },
    2: { i32: body.length },
    3: { i32: body.length },
    7: { struct: { 1: { i32: values }, 2: { i32: 0 } } },
  });
  return { page: [...header, ...body], header: header.length };
}

/** Encodes levels of at most 1 as in pages of version 1, each as a run of its own. */
export function sizedLevels(levels: readonly number[]): number[] {
  return [
    ...wordBytes(2 * levels.length),
    ...levels.flatMap((one) => [2, one]),
  ];
}

/** Encodes 32-bit integers. */
export function wordBytes(...words: number[]): number[] {
  return [...new Uint8Array(Int32Array.from(words).buffer)];
}

/** Returns a file of the 32-bit integers 7, 8 and 9 in one required column `n`, falsified by `lies`. */
export function parquetFile(lies: Lies = {}): Uint8Array {
  const { body = [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0], codec = 0 } = lies;
  const chunk = lies.chunk ?? dataPage(body, 3, lies);
  const schema: readonly Thrift[] = [
    { struct: { 4: { binary: "schema" }, 5: { i32: 1 }, ...lies.root } },
    ...(lies.schema ?? [
      { 1: { i32: Type.INT32 }, 3: { i32: 0 }, 4: { binary: "n" } },
    ]).map((fields) => ({ struct: fields })),
  ];
  const meta: Fields = {
    1: { i32: Type.INT32 },
    2: { list: [{ i32: 0 }] },
    3: { list: [{ binary: "n" }] },
    4: { i32: codec },
    5: { i64: 3 },
    6: { i64: chunk.length },
    7: { i64: chunk.length },
    9: { i64: 4 },
    ...lies.meta,
  };
  const column: Fields = { 2: { i64: 4 }, 3: { struct: meta }, ...lies.column };
  const group: Fields = {
    1: { list: [{ struct: column }] },
    2: { i64: chunk.length },
    3: { i64: 3 },
    ...lies.group,
  };
  const footer = struct({
    1: { i32: 1 },
    2: { list: schema },
    3: { i64: 3 },
    4: { list: [{ struct: group }] },
    ...lies.footer,
  });
  return withFooter(chunk, footer, lies.footerLength);
}

/** Returns a file of pages and a footer. */
export function withFooter(
  pages: readonly number[],
  footer: readonly number[],
  lengthOf: (length: number) => number = (length) => length,
): Uint8Array {
  const magic = [...new TextEncoder().encode("PAR1")];
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, lengthOf(footer.length), true);
  return Uint8Array.from([...magic, ...pages, ...footer, ...length, ...magic]);
}

/** Dimensions of {@linkcode largeFile}. */
export interface LargeFile {
  readonly groups: number;
  /** Pages per row group. */
  readonly pages: number;
  /** Rows per page. */
  readonly rows: number;
  /** Bytes per value. */
  readonly size: number;
  /** Whether the file has offset indexes. */
  readonly isIndexed: boolean;
}

/** A page with its header. */
export interface Page {
  readonly header: readonly number[];
  readonly body: Uint8Array;
  readonly rows: number;
}

/** Returns a file with one column of bytes, `data`. The value of row i is `size` bytes of value i. */
export function largeFile(
  { groups, pages, rows, size, isIndexed }: LargeFile,
): Uint8Array {
  let row = 0;
  const page = (): Page => {
    const body = new Uint8Array(rows * (4 + size));
    const view = new DataView(body.buffer);
    for (let i = 0; i < rows; i++, row++) {
      view.setUint32(i * (4 + size), size, true);
      body.fill(row, i * (4 + size) + 4, (i + 1) * (4 + size));
    }
    const header = dataPage([], rows, {
      page: { 2: { i32: body.length }, 3: { i32: body.length } },
    });
    return { header, body, rows };
  };
  const all = Array.from(
    { length: groups },
    () => Array.from({ length: pages }, page),
  );
  return writeBytesFile(all, { isIndexed });
}

/** Returns a file of these pages, by row group, with one column of bytes, `data`. */
export function writeBytesFile(
  groups: readonly (readonly Page[])[],
  { isIndexed, codec = 0 }: {
    readonly isIndexed: boolean;
    readonly codec?: number;
  },
): Uint8Array {
  const parts: Uint8Array[] = [new TextEncoder().encode("PAR1")];
  let at = 4;
  const add = (bytes: Uint8Array): number => {
    parts.push(bytes);
    at += bytes.length;
    return bytes.length;
  };
  const places = groups.map((pages) => {
    const start = at;
    let rows = 0;
    const locations = pages.map((page) => {
      const [offset, first] = [at, rows];
      const length = add(Uint8Array.from(page.header)) + add(page.body);
      rows += page.rows;
      return { offset, length, first };
    });
    return { start, length: at - start, locations, rows };
  });
  const indexes = places.map(({ locations }) => {
    const start = at;
    const list = locations.map(({ offset, length, first }) => ({
      struct: { 1: { i64: offset }, 2: { i32: length }, 3: { i64: first } },
    }));
    const length = add(Uint8Array.from(struct({ 1: { list } })));
    return { start, length };
  });
  const name = { binary: "data" };
  const rowGroups = places.map(({ start, length, rows }, group) => {
    const meta: Fields = {
      1: { i32: Type.BYTE_ARRAY },
      2: { list: [{ i32: 0 }] },
      3: { list: [name] },
      4: { i32: codec },
      5: { i64: rows },
      6: { i64: length },
      7: { i64: length },
      9: { i64: start },
    };
    const index = indexes[group]!;
    const indexed: Fields = isIndexed
      ? { 4: { i64: index.start }, 5: { i32: index.length } }
      : {};
    const column = { 2: { i64: start }, 3: { struct: meta }, ...indexed };
    return {
      struct: {
        1: { list: [{ struct: column }] },
        2: { i64: length },
        3: { i64: rows },
      },
    };
  });
  const leaf = { 1: { i32: Type.BYTE_ARRAY }, 3: { i32: 0 }, 4: name };
  const footer = struct({
    1: { i32: 1 },
    2: {
      list: [
        { struct: { 4: { binary: "schema" }, 5: { i32: 1 } } },
        { struct: leaf },
      ],
    },
    3: { i64: places.reduce((sum, { rows }) => sum + rows, 0) },
    4: { list: rowGroups },
  });
  add(Uint8Array.from(footer));
  const end = new Uint8Array(8);
  new DataView(end.buffer).setUint32(0, footer.length, true);
  end.set(parts[0]!, 4);
  add(end);
  const whole = new Uint8Array(at);
  let done = 0;
  for (const part of parts) {
    whole.set(part, done);
    done += part.length;
  }
  return whole;
}

/** Returns a file with one column of bytes, `data`: one page, with one byte per row. */
export function bytesFile(values: readonly number[]): Uint8Array {
  const body = Uint8Array.from(values.flatMap((value) => [1, 0, 0, 0, value]));
  const rows = values.length;
  const size = { i32: body.length };
  const header = dataPage([], rows, { page: { 2: size, 3: size } });
  return writeBytesFile([[{ header, body, rows }]], { isIndexed: false });
}
