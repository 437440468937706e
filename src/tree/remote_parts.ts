import { RemoteSource } from "../io/remote/remote_source.ts";
import { RemoteStorage } from "../io/remote/remote_storage.ts";
import { baseOf } from "../io/storage/layered_storage.ts";
import { isMade, originOf } from "../io/storage/made_source.ts";
import { lazySources, openedSources } from "./joined_sources.ts";
import type { Tree } from "./tree.ts";

export interface RemoteParts {
  readonly objects: readonly RemoteSource[];
  /** Objects that opened sources are made from. */
  readonly origins: readonly RemoteSource[];
  /** Storages below which files are opened on demand. */
  readonly places: readonly RemoteStorage[];
}

export function remoteParts({ sources }: Pick<Tree, "sources">): RemoteParts {
  const opened = openedSources(sources);
  const objects = opened.filter((source) => source instanceof RemoteSource);
  const origins = opened.filter(isMade).map(originOf)
    .filter((source) => source instanceof RemoteSource);
  const places = lazySources(sources)
    .map(({ storage }) => storage && baseOf(storage))
    .filter((storage) => storage instanceof RemoteStorage);
  return { objects, origins, places };
}

/** Whether any part of a tree is on a server. */
export function isRemote(tree: Pick<Tree, "sources">): boolean {
  const { objects, origins, places } = remoteParts(tree);
  return objects.length + origins.length + places.length > 0;
}

/** Stops caching what is fetched for a tree, because it will not be read again. */
export async function keepNoMore(tree: Pick<Tree, "sources">): Promise<void> {
  const { objects, origins, places } = remoteParts(tree);
  for (const { fetcher } of [...objects, ...origins]) fetcher.keepNoMore();
  for (const place of places) await place.keepNoMore();
}
