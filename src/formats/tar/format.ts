import type { Format } from "../format.ts";
import { checkTars } from "./check.ts";
import { daliPath } from "./read/dali_index.ts";
import { openTars } from "./tree/open_tars.ts";
import { tarPaths } from "./tree/tar_paths.ts";

/** Tar archives: their files, and WebDataset samples. */
export const tar: Format = {
  open: openTars,
  *patternPaths(pattern, storage) {
    return (yield* tarPaths(pattern, storage)).paths;
  },
  check: checkTars,
  async daliIndex() {
    const { daliIndexOf } = await import("./write/dali_output.ts");
    return { pathOf: daliPath, encode: daliIndexOf };
  },
  async openSource(container) {
    const { tarSource } = await import("./convert/source.ts");
    return tarSource(container);
  },
  async target() {
    return (await import("./convert/tar_target.ts")).tarTarget;
  },
};
