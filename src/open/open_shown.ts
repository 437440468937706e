import { perform, type Steps } from "../io/concurrency/steps.ts";
import { mustWait } from "../io/storage/must_wait.ts";
import type { Container } from "../tree/format.ts";
import { openOne } from "./find_format.ts";
import type { OpenContainerOptions } from "./open.ts";
import { warnOfOtherShards } from "./other_shards.ts";
import type { openNested } from "./nested_tree/open_nested.ts";

let loaded: typeof openNested | undefined;

/** Loads what shows nested containers, which programs need only with the option `nested`. */
export async function loadNested(): Promise<typeof openNested> {
  const module = await import("./nested_tree/open_nested.ts");
  return loaded = module.openNested;
}

/** Opens a container as the options want it shown: with the containers in it as directories, or as files. */
export function* openShown(
  path: string,
  options: OpenContainerOptions,
): Steps<Container> {
  if (!isNested(options)) {
    const container = yield* openOne(path, options);
    yield* warnOfOtherShards(path, container, options);
    return container;
  }
  const open = loaded ?? (yield* perform({
    sync: () => {
      throw mustWait(path);
    },
    async: loadNested,
  }));
  return yield* open(path, options);
}

/** Whether containers in the opened one are to appear as directories. */
export function isNested({ nested = false }: OpenContainerOptions): boolean {
  return nested !== false;
}
