/** The files of lines that Python's modules wrote, and what they read of them. */
import { type GoldenSet, goldenSet } from "../golden.ts";

/** `expect.json` of one case. */
export interface LinesCase {
  readonly name: string;
  readonly format: string;
  /** Path of the file, or of the directory of shards. */
  readonly path: string;
  readonly content: {
    /** Values by field; `null` of a row that cannot be decoded. */
    readonly rows: readonly (Readonly<Record<string, unknown>> | null)[];
  };
}

/** Names of the formats of lines. */
export const LINE_FORMATS = ["jsonl", "csv", "tsv"] as const;

/** The cases of a format; integers beyond 2^53 are a `bigint`. */
export function linesGoldens(format: string): GoldenSet<LinesCase> {
  return goldenSet<LinesCase>(format, exact as (key: string) => unknown);
}

function exact(
  _key: string,
  value: unknown,
  { source = "" }: { readonly source?: string } = {},
): unknown {
  const isLong = typeof value === "number" && /^-?\d+$/.test(source) &&
    !Number.isSafeInteger(value);
  return isLong ? BigInt(source) : value;
}
