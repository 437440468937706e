import type { Format } from "../format.ts";
import { checkRecordFiles } from "./check.ts";
import { openFFRecord } from "./folder/packed_files.ts";
import { areSamples, PACKED_FOLDER, SAMPLES } from "./kinds.ts";

/** FFRecord: packed folders as their directories, other files as numbered samples. */
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
  async openDataset(path, { kind }, options) {
    if (kind === PACKED_FOLDER) {
      const { PackedFolderDataset } = await import(
        "./data/packed_folder_dataset.ts"
      );
      return await PackedFolderDataset.open(path, options);
    }
    if (!areSamples(kind)) return undefined;
    const { FFRecordDataset } = await import(
      "./data/ffrecord_dataset.ts"
    );
    return await FFRecordDataset.open(path, options);
  },
};
