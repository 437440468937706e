import {
  type ConversionSource,
  RecordSource,
} from "../../../convert/from/source.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import type { VirtualFs } from "../../../vfs/virtual_fs.ts";
import { BAG } from "../entry.ts";
import { DatasetSource } from "./dataset_source.ts";

/** A bag or a dataset to be converted. */
export async function bagsSource(
  container: VirtualFs,
  options: WaitOptions & Pick<ContainerOptions, "onWarning">,
): Promise<ConversionSource> {
  const { kind, facts } = container.info;
  if (kind === BAG) {
    const what = `a bag of generation ${facts!["generation"]}`;
    return new RecordSource(container, what, "records");
  }
  return await DatasetSource.open(container, options);
}
