import {
  ContainerSource,
  type ConversionSource,
  RecordSource,
} from "../../../convert/from/source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { areSamples, PACKED_FOLDER } from "../kinds.ts";

/** Opens FFRecord files for conversion: packed folders as their files, others as samples. */
export function recordsSource(container: VirtualFs): ConversionSource {
  const { kind } = container.info;
  if (areSamples(kind)) {
    const lost = "samples lose their checksums: only FFRecord has them";
    return new RecordSource(container, "FFRecord samples", "samples", lost);
  }
  const what = kind === PACKED_FOLDER
    ? "an FFRecord packed folder"
    : "a directory of FFRecord packed folders";
  return new ContainerSource(container, what);
}
