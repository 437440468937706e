import { columnNames } from "../../codecs/cells/column_names.ts";
import { columnType } from "../../codecs/cells/column_type.ts";
import type { Field } from "../samples/samples.ts";
import type { RowFile } from "./row_format.ts";

/** Column of at least one of several files; the first file that has it determines its type. */
export interface SharedColumn extends Field {
  /** Per file: index of the column; -1 if the file lacks it, so that its rows are null. */
  readonly numbers: readonly number[];
}

/** Merges the columns of all files by name: those of the first file, then additional ones of others. */
export function sharedColumns(files: readonly RowFile[]): SharedColumn[] {
  const byName = new Map<string, SharedColumn & { numbers: number[] }>();
  for (const [file, { columns, suffixes }] of files.entries()) {
    for (const [number, name] of columnNames(columns).entries()) {
      let column = byName.get(name);
      if (column === undefined) {
        const type = columnType(columns[number]!, suffixes[number] ?? "");
        const numbers = files.map(() => -1);
        column = { name, type, isList: false, numbers };
        byName.set(name, column);
      }
      column.numbers[file] = number;
    }
  }
  return [...byName.values()];
}

/** Describes which files lack columns, whose values are null, or have another order; `undefined` if all are alike. */
export function differenceOf(
  files: readonly RowFile[],
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
