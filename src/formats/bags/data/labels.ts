import { asLabel } from "../../../data/split/as_label.ts";
import { RecordfsError } from "../../../base/errors.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { ShardedDatasetReader } from "../read/sharded_dataset_reader.ts";

/** Values read at a time. */
const PAGE = 4096;

/** The labels of datapoints: the values of a key. */
export async function* valueLabels(
  container: VirtualFs,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const { location, info } = container;
  requireKey(container, label);
  using reader = await ShardedDatasetReader.open(location, {
    signal,
    onWarning() {}, // said when the container was opened
  });
  const length = info.facts!["datapoints"]!;
  for (let start = 0; start < length; start += PAGE) {
    const stop = Math.min(start + PAGE, length);
    const values = await reader.range(start, stop, [label], { signal });
    for (const [i, value] of values[label]!.entries()) {
      yield asLabel(value, start + i, () => location, label);
    }
  }
}

/** @throws {RecordfsError} If the dataset has no such key, or one with lists. */
function requireKey({ location, info }: VirtualFs, label: string): void {
  const { keys = [] } = info;
  const key = keys.find(({ name }) => name === label);
  if (key !== undefined && !key.type.endsWith("[]")) return;
  const names = keys.map(({ name }) => `'${name}'`).join(", ");
  throw new RecordfsError(
    "no-label",
    key === undefined
      ? `${location} has no key '${label}' to stratify by: its keys are ${names}`
      : `The key '${label}' of ${location} has a list for each datapoint, not a label`,
    { path: location, actual: label },
  );
}
