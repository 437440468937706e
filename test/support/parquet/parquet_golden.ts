/** The Parquet files that pyarrow wrote, and the values that it reads from them. */
import type { CellValue } from "../../../src/codecs/cells/render_cell.ts";
import type { VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { goldenSet } from "../golden.ts";

/** A value as `expect.json` describes it. */
export type ExpectedValue =
  | null
  | boolean
  | number
  | string
  | ExpectedValue[]
  | { readonly hex: string }
  | { readonly bigint: string }
  | { readonly float: number | string }
  | { readonly struct: readonly (readonly [string, ExpectedValue])[] };

/** `expect.json` of one case. */
export interface ParquetCase {
  readonly name: string;
  /** Path of the file, or of the directory of shards. */
  readonly path: string;
  readonly content: {
    readonly rows: number;
    readonly columns: readonly {
      readonly name: string;
      readonly values: readonly ExpectedValue[];
    }[];
  };
}

const GOLDENS = goldenSet<ParquetCase>("parquet");

/** Reads one case. */
export const parquetCase = GOLDENS.one;

/** Reads all cases. */
export const parquetCases = GOLDENS.all;

/** Returns the value that a reader must return. */
export function valueOf(value: ExpectedValue): CellValue {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(valueOf);
  if ("hex" in value) return Uint8Array.fromHex(value.hex);
  if ("bigint" in value) return BigInt(value.bigint);
  if ("float" in value) return Number(value.float);
  const struct = Object.create(null);
  for (const [name, part] of value.struct) struct[name] = valueOf(part);
  return struct;
}

/** Returns the rows of a case as a reader must return them. */
export function rowsOf(
  { content }: Pick<ParquetCase, "content">,
): CellValue[][] {
  return Array.from(
    { length: content.rows },
    (_, row) => content.columns.map(({ values }) => valueOf(values[row]!)),
  );
}

/** Returns the paths of all files of a container. */
export function filesIn(container: VirtualFs): string[] {
  return [...container.walkSync("")].filter(({ isFile }) => isFile)
    .map(({ path }) => path);
}
