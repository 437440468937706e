import type { Steps } from "../../io/steps.ts";
import type {
  Container,
  ContainerOptions,
  Format,
  ServedContainer,
} from "../../tree/format.ts";
import { DecodedViews } from "./decoded_views.ts";
import { serveBags } from "./serve.ts";
import { bagsSignature } from "./signature.ts";

/** Bags and Granular: datasets, sharded or not, and single bags. */
export const bags: Format = {
  ...bagsSignature,
  open,
  openToServe,
  async check(path, options) {
    const { checkBags } = await import("./check.ts");
    return await checkBags(path, options);
  },
};

function openToServe(
  path: string,
  options: ContainerOptions,
): Steps<ServedContainer> {
  const views = options.decoded ? new DecodedViews() : undefined;
  return serveBags(path, options, views);
}

/** Opens everything, so that what is damaged is found now. */
function* open(path: string, options: ContainerOptions): Steps<Container> {
  const container = yield* openToServe(path, options);
  try {
    yield* container.complete();
  } catch (error) {
    container.tree.close();
    throw error;
  }
  return { tree: container.tree, info: container.info };
}
