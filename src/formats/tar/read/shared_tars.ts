import type { Steps } from "../../../io/concurrency/steps.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { TarTree } from "../tree/tar_tree.ts";
import type { TarColumns } from "./tar_columns.ts";

/** Tars for another thread: their tables are in memory that threads share. */
export type TarsHandle = readonly (KnownFile & {
  readonly columns: TarColumns;
})[];

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
  const sources = yield* reopenSources(storage, handle);
  return handle.map(({ columns, mtime }, i) =>
    new TarTree([sources[i]!], columns, mtime)
  );
}
