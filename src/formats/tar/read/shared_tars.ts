import { FormatError } from "../../../errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { TarTree } from "../tree/tar_tree.ts";
import type { TarColumns } from "./tar_columns.ts";

/** Tars for another thread: their tables are in memory that threads share. */
export type TarsHandle = readonly {
  readonly path: string;
  readonly columns: TarColumns;
  readonly size: number;
  readonly mtime: number;
}[];

/** Describes opened tars for another thread. */
export function shareTars(trees: readonly TarTree[]): TarsHandle {
  return trees.map(({ sources, columns }) => {
    const { name, size, mtime } = sources[0]!;
    return { path: name, columns, size, mtime };
  });
}

/**
 * Opens tars that another thread has opened, over its tables.
 *
 * @throws {FormatError} If one is not the same any more.
 */
export function* reopenTars(
  handle: TarsHandle,
  storage: Storage,
): Steps<TarTree[]> {
  const trees: TarTree[] = [];
  try {
    for (const { path, columns, size, mtime } of handle) {
      const source = yield* storage.open(path);
      trees.push(new TarTree([source], columns, mtime));
      if (source.size === size && source.mtime === mtime) continue;
      throw new FormatError(
        "changed",
        `${path} was replaced or changed after it was opened; open it again`,
        { path, expected: size, actual: source.size },
      );
    }
    return trees;
  } catch (error) {
    for (const tree of trees) tree.close();
    throw error;
  }
}
