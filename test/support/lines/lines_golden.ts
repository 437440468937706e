/** The line-based files that Python's modules wrote, and the values that they read from them. */
import { type GoldenSet, goldenSet } from "../golden.ts";

/** `expect.json` of one case. */
export interface LinesCase {
  readonly name: string;
  readonly format: string;
  /** Path of the file, or of the directory of shards. */
  readonly path: string;
  readonly content: {
    /** Values by field; `null` for a row that cannot be decoded. */
    readonly rows: readonly (Readonly<Record<string, unknown>> | null)[];
  };
}

/** Names of the line-based formats. */
export const LINE_FORMATS = ["jsonl", "csv", "tsv"] as const;

/** Returns the cases of a format. Integers beyond 2^53 are a `bigint`. */
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
