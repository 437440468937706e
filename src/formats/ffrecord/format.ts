import type { Format } from "../format.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { checkRecordFiles } from "./check.ts";
import { openFFRecord } from "./folder/packed_files.ts";
import { SAMPLES } from "./kinds.ts";

export const ffrecord: Format = {
  open: openFFRecord,
  check: checkRecordFiles,
  async listSamples(path, options) {
    const { listRecords } = await import("./read/record_listing.ts");
    return await runAsync(listRecords(path, options), options.signal);
  },
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
