import { runAsync } from "../../../io/concurrency/steps.ts";
import type {
  ContainerOptions,
  ServedContainer,
} from "../../../tree/format.ts";
import { beginContainer } from "./begin_container.ts";

/** Opens a container for other threads to serve, of many shards only the first one. */
export async function openToServe(
  path: string,
  options: ContainerOptions,
): Promise<ServedContainer> {
  const views = options.decoded
    ? new (await import("./decoded_views.ts")).DecodedViews()
    : undefined;
  const begun = await runAsync(beginContainer(path, options, views));
  return {
    tree: begun.tree,
    get info() {
      return begun.info;
    },
    complete: () => runAsync(begun.complete()),
  };
}
