import type { Steps } from "../../io/concurrency/steps.ts";
import type { Container, ContainerOptions } from "../../tree/format.ts";
import type { Format } from "../format.ts";
import { beginContainer } from "./tree/begin_container.ts";
import { BAG } from "./dataset/dataset_names.ts";
import { checkBags } from "./check/check.ts";
import { DecodedViews } from "./tree/decoded_views.ts";

/** Bags and Granular: datasets, sharded or not, and single bags. */
export const bags: Format = {
  open,
  check: checkBags,
  async openSource(container, options) {
    const { bagsSource } = await import("./convert/dataset_source.ts");
    return await bagsSource(container, options);
  },
  async target(name) {
    return name === BAG
      ? (await import("./convert/bag_target.ts")).bagTarget
      : (await import("./convert/dataset_target.ts")).datasetTarget;
  },
  async openDataset(path, { kind }, options) {
    if (kind === BAG) return undefined;
    const { BagDataset } = await import("./data/bag_dataset.ts");
    return await BagDataset.open(path, options);
  },
  async readLabels(container, label, signal) {
    if (container.info.kind === BAG) return undefined;
    const { valueLabels } = await import("./data/labels.ts");
    return valueLabels(container, label, signal);
  },
};

/** Opens everything, so that what is damaged is found now. */
function* open(path: string, options: ContainerOptions): Steps<Container> {
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
