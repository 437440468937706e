import type { Format } from "../format.ts";
import { HDF5_ROWS } from "./read/hdf5_rows.ts";
import { openHdf5 } from "./tree/open_hdf5.ts";

export const hdf5: Format = {
  open: openHdf5,
  *patternPaths(pattern, storage) {
    return (yield* HDF5_ROWS.paths(pattern, storage)).paths;
  },
  async openSource(container) {
    const { ContainerSource } = await import("../../convert/from/source.ts");
    return new ContainerSource(container, "HDF5");
  },
};
