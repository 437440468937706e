import { fieldNames } from "../values/column_names.ts";
import type { ParquetFile } from "./parquet_files.ts";

/** A column of rows: of one of several files at least. */
export interface SharedColumn {
  readonly name: string;
  /** Per file, its number there; -1 where the file has no such column, and its rows are null. */
  readonly numbers: readonly number[];
}

/** The columns of all files, by their names: those of the first file, and then what others have besides. */
export function sharedColumns(files: readonly ParquetFile[]): SharedColumn[] {
  const byName = new Map<string, number[]>();
  for (const [file, { columns }] of files.entries()) {
    for (const [number, name] of fieldNames(columns).entries()) {
      const numbers = byName.get(name) ?? files.map(() => -1);
      numbers[file] = number;
      byName.set(name, numbers);
    }
  }
  return [...byName].map(([name, numbers]) => ({ name, numbers }));
}

/** Says which files have columns in another order, or lack some, whose rows are null; `undefined` where all are alike. */
export function differenceOf(
  files: readonly ParquetFile[],
  columns: readonly SharedColumn[],
): string | undefined {
  const lacking = files.flatMap(({ path }, file) => {
    const names = columns.filter(({ numbers }) => numbers[file]! < 0)
      .map(({ name }) => `'${name}'`);
    return names.length === 0 ? [] : [{ path, names }];
  });
  const [first] = lacking;
  if (first !== undefined) {
    const others = lacking.length - 1;
    const more = others === 0 ? "" : `, and ${others} more files lack some`;
    const which = first.names.length > 10
      ? `${first.names.slice(0, 10).join(", ")} and more`
      : first.names.join(", ");
    return `${first.path} has no column ${which}${more}: these values are null`;
  }
  const at = files.findIndex((_, file) =>
    columns.some(({ numbers }, i) => numbers[file] !== i)
  );
  return at < 0
    ? undefined
    : `${files[at]!.path} has its columns in another order than ${
      files[0]!.path
    }: values are those of the columns' names`;
}
