/** Kinds of files of lines, each a format of its own. */

export interface LineKind {
  /** Name of the format. */
  readonly name: string;
  /** Name in messages. */
  readonly title: string;
  readonly suffixes: readonly string[];
  /** Word for a sample. */
  readonly unit: "line" | "row";
  /** Suffix of files of samples: a row without the header is no CSV. */
  readonly suffix: ".json" | ".txt";
  /** Character between the cells of a row; `undefined` for lines of JSON. */
  readonly delimiter: string | undefined;
}

const ROW = { unit: "row", suffix: ".txt" } as const;

export const KINDS: readonly LineKind[] = [
  {
    ...{ name: "jsonl", title: "JSON lines", suffixes: [".jsonl", ".ndjson"] },
    ...{ unit: "line", suffix: ".json", delimiter: undefined },
  },
  { ...ROW, name: "csv", title: "CSV", suffixes: [".csv"], delimiter: "," },
  { ...ROW, name: "tsv", title: "TSV", suffixes: [".tsv"], delimiter: "\t" },
];

/** Returns the kind of this name. */
export function kindNamed(name: string): LineKind {
  return KINDS.find((kind) => kind.name === name)!;
}

/** Whether a file name is of this kind, such as `x.csv`. */
export function isNamedSo({ suffixes }: LineKind, name: string): boolean {
  return !isHidden(name) &&
    suffixes.some((suffix) => name.toLowerCase().endsWith(suffix));
}

/** Whether a name is that of a hidden file, or of a tool, such as `._x.csv` and `_SUCCESS`. */
export function isHidden(name: string): boolean {
  return /^[._]/.test(name);
}
