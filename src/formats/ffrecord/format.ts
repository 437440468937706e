import type { Format } from "../format.ts";
import { checkRecordFiles } from "./check.ts";
import { openFFRecord } from "./folder/packed_files.ts";
import { SAMPLES } from "./kinds.ts";

export const ffrecord: Format = {
  open: openFFRecord,
  check: checkRecordFiles,
  async openSource(container) {
    const { recordsSource } = await import("./convert/source.ts");
    return recordsSource(container);
  },
  async target(name) {
    const { packedTarget, samplesTarget } = await import(
      "./convert/targets.ts"
    );
    return name === SAMPLES ? samplesTarget : packedTarget;
  },
};
