import type { Format } from "../format.ts";
import { openHdf5 } from "./tree/open_hdf5.ts";

export const hdf5: Format = {
  open: openHdf5,
  async openSource(container) {
    const { ContainerSource } = await import("../../convert/from/source.ts");
    return new ContainerSource(container, "HDF5");
  },
};
