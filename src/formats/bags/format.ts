import type { Format } from "../format.ts";
import { openBags } from "./tree/open_bags.ts";
import { BAG } from "./dataset/dataset_names.ts";
import { checkBags } from "./check/check.ts";

export const bags: Format = {
  open: openBags,
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
};
