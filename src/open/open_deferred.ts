import { perform, runAsync, type Steps } from "../io/concurrency/steps.ts";
import { mustWait } from "../io/storage/must_wait.ts";
import type { Container, DeferredContainer } from "../tree/format.ts";
import { openOne, withFormat } from "./find_format.ts";
import { placeOf, type SeveralLocations } from "./location.ts";
import { LayeredStorage } from "../io/storage/layered_storage.ts";
import { LOCAL_DISK } from "../io/storage/storage.ts";
import type { OpenContainerOptions } from "./open.ts";
import { isNested, openShown } from "./open_shown.ts";
import { warnOfOtherShards } from "./other_shards.ts";
import { explaining } from "./other_content.ts";
export type { DeferredContainer };

/** Opens containers for other threads to serve. Serving can begin before the metadata are checked. */
export async function openDeferred(
  containers: string | SeveralLocations,
  options: OpenContainerOptions = {},
): Promise<DeferredContainer> {
  const isOne = typeof containers === "string";
  if (isOne && options.prefix === undefined) {
    const { path, options: own } = placeOf(containers, options);
    return served(await runAsync(openOneToServe(path, own)));
  }
  const { openSeveral } = await import("./open_several.ts");
  const places = isOne ? [containers] : containers;
  const opening = openSeveral(places, options, openOneToServe);
  return served((await runAsync(opening)).container);
}

function openOneToServe(
  path: string,
  options: OpenContainerOptions,
): Steps<Container | DeferredContainer> {
  if (isNested(options)) return openShown(path, options);
  const { storage = LOCAL_DISK } = options;
  return explaining(openFound(path, options), storage);
}

function openFound(
  path: string,
  options: OpenContainerOptions,
): Steps<Container | DeferredContainer> {
  const { storage: below = LOCAL_DISK } = options;
  return withFormat(path, options, function* (entry, options, path) {
    // What is open already, such as an outer container, has no metadata to wait for.
    const isLayered = options.storage instanceof LayeredStorage;
    if (entry.openDeferred === undefined || isLayered) {
      const container = yield* openOne(path, options, { entry, below });
      const stored = { ...options, storage: below };
      yield* warnOfOtherShards(path, container, stored);
      return container;
    }
    return yield* perform({
      sync() {
        throw mustWait(path);
      },
      async: () => entry.openDeferred!(path, options),
    });
  }, true);
}

/** Adds a no-op `complete` to a container that was opened complete. `info` stays a getter: it may be computed later. */
function served(container: Container | DeferredContainer): DeferredContainer {
  if ("complete" in container) return container;
  const { tree } = container;
  return {
    tree,
    get info() {
      return container.info;
    },
    complete: () => Promise.resolve(),
  };
}
