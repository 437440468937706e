import type { Steps } from "../../../io/concurrency/steps.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { type TarFacts, TarTree } from "../tree/tar_tree.ts";

/** Tars for another thread: their tables are in memory that threads share. */
export type TarsHandle = readonly TarFacts[];

/** Describes opened tars for another thread. */
export function shareTars(trees: readonly TarTree[]): TarsHandle {
  return trees.map(({ facts }) => facts);
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
  return handle.map((facts, i) =>
    new TarTree(facts, { archive: sources[i]!, storage })
  );
}
