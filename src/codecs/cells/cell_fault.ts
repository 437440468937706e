import { FormatError } from "../../base/errors.ts";

/** Fault of stored values. Callers that know the file and column convert it by {@linkcode cellError}. */
export class CellFault extends Error {
  /** Whether it affects all rows of the column that are stored together, not just these. */
  isOfAll = false;
  readonly kind: "damaged" | "sum" | "too-large" | "unsupported";

  constructor(
    message: string,
    kind: CellFault["kind"] = "damaged",
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

const CODES: Readonly<Record<CellFault["kind"], FormatError["code"]>> = {
  damaged: "bad-structure",
  sum: "sample-checksum",
  "too-large": "too-large",
  unsupported: "unsupported",
};

/** Makes the error of a file that cannot be read as a whole. */
export function fileError(
  path: string,
  why: string,
  code: FormatError["code"] = "bad-structure",
  cause?: unknown,
): FormatError {
  const isSound = code === "unsupported" || code === "too-large";
  const way = isSound ? "" : ". Download or write the file again";
  return new FormatError(code, `Cannot read ${path}: ${why}${way}`, {
    path,
    cause,
  });
}

/** Runs the decoding of what describes a whole file, and converts a fault in it to an error of the file. */
export function decodeFile<T>(path: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof CellFault)) throw cause;
    throw fileError(path, `it ${cause.message}`, CODES[cause.kind], cause);
  }
}

/**
 * Makes the error of a fault.
 *
 * @param column Name of the column.
 * @param group Where the rows are stored together, such as `row group 3`.
 * @param rows The first row that cannot be read, and the one after the last, if that is known.
 */
export function cellError(
  fault: CellFault,
  path: string,
  column: string,
  group: string,
  rows: readonly [number, number] | undefined,
): FormatError {
  const { kind, message, isOfAll } = fault;
  const way = kind === "damaged" || kind === "sum"
    ? ". Download or write the file again"
    : "";
  const [first, past] = isOfAll ? [] : rows ?? [];
  const which = first === undefined ? "" : ` (rows ${first} to ${past! - 1})`;
  return new FormatError(
    CODES[kind],
    `Cannot read column '${column}' of ${group}${which} of ${path}: it ` +
      `${message}${way}`,
    { path, sample: first, cause: fault.cause ?? fault },
  );
}
