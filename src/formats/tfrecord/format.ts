import type { Format } from "../format.ts";
import { checkRecords } from "./check.ts";
import { recordPaths } from "./read/record_paths.ts";
import { openRecords } from "./tree/open_records.ts";

export const tfrecord: Format = {
  open: openRecords,
  *patternPaths(pattern, storage) {
    return (yield* recordPaths(pattern, storage)).paths;
  },
  check: checkRecords,
  async daliIndex() {
    const { daliPath, daliIndexOf } = await import("./read/dali_index.ts");
    return { pathOf: daliPath, encode: daliIndexOf };
  },
  async openSource(container) {
    const { recordsSource } = await import("./convert/source.ts");
    return recordsSource(container);
  },
  async target() {
    const { tfrecordTarget } = await import("./convert/target.ts");
    return tfrecordTarget;
  },
};
