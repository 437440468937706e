import type { Steps } from "../../../io/concurrency/steps.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { beginContainer } from "./begin_container.ts";
import { DecodedViews } from "./decoded_views.ts";

/** Opens everything, so that what is damaged is found now. */
export function* openBags(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const views = options.decoded ? new DecodedViews() : undefined;
  const container = yield* beginContainer(path, options, views);
  try {
    yield* container.complete();
  } catch (error) {
    container.tree.close();
    throw error;
  }
  return { tree: container.tree, info: container.info };
}
