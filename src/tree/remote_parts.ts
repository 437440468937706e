import { RemoteSource } from "../io/remote/remote_source.ts";
import { RemoteStorage } from "../io/remote/remote_storage.ts";
import { lazySources, openedSources } from "./joined_sources.ts";
import type { Tree } from "./tree.ts";

export interface RemoteParts {
  readonly objects: readonly RemoteSource[];
  /** Storages below which files are opened on demand. */
  readonly places: readonly RemoteStorage[];
}

export function remoteParts({ sources }: Pick<Tree, "sources">): RemoteParts {
  const objects = openedSources(sources)
    .filter((source) => source instanceof RemoteSource);
  const places = lazySources(sources).map(({ storage }) => storage)
    .filter((storage) => storage instanceof RemoteStorage);
  return { objects, places };
}

/** Whether any part of a tree is on a server. */
export function isRemote(tree: Pick<Tree, "sources">): boolean {
  const { objects, places } = remoteParts(tree);
  return objects.length + places.length > 0;
}

/** Stops caching what is fetched for a tree, because it will not be read again. */
export async function keepNoMore(tree: Pick<Tree, "sources">): Promise<void> {
  const { objects, places } = remoteParts(tree);
  for (const { fetcher } of objects) fetcher.keepNoMore();
  for (const place of places) await place.keepNoMore();
}
