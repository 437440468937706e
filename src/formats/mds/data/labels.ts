import { asLabel } from "../../../data/split/as_label.ts";
import { RecordfsError } from "../../../base/errors.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { MDSReader } from "../read/mds_reader.ts";
import { MdsTree } from "../tree/mds_tree.ts";

/** Samples whose labels are read at a time. */
const PAGE = 1024;

/**
 * The labels of samples: the value of that column, such as `label`.
 *
 * @returns `undefined` where a part of the dataset is shown as if it were all.
 */
export function columnLabels(
  container: VirtualFs,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> | undefined {
  const { tree, location } = container;
  if (!(tree instanceof MdsTree)) return undefined;
  // It lies over what the container has opened, and is not closed.
  return read(new MDSReader(tree.store), location, label, signal);
}

async function* read(
  reader: MDSReader,
  location: string,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const columns = [label];
  for (let start = 0; start < reader.length; start += PAGE) {
    const length = Math.min(PAGE, reader.length - start);
    const indices = Array.from({ length }, (_, i) => start + i);
    const lacking = indices.find((index) =>
      !reader.columns(index).some(({ name }) => name === label)
    );
    if (lacking !== undefined) throw noLabel(location, label, lacking);
    const samples = await reader.samples(indices, { columns, signal });
    for (const [i, sample] of samples.entries()) {
      const path = () => reader.fileOf(start + i);
      yield asLabel(sample[label], start + i, path, label);
    }
  }
}

function noLabel(path: string, label: string, sample: number): RecordfsError {
  return new RecordfsError(
    "no-label",
    `Sample ${sample} of ${path} has no column '${label}' to stratify by: give one that all samples have, such as label`,
    { path, sample, actual: label },
  );
}
