import { asLabel } from "../../../data/split/as_label.ts";
import { RecordfsError } from "../../../base/errors.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { areOpen } from "../../../tree/tree.ts";
import type { FeatureValue } from "../proto/example.ts";
import { TFRecordReader } from "../read/tfrecord_reader.ts";
import { RecordTree } from "../tree/record_tree.ts";
import { utf8Text } from "../../../base/utf8.ts";

/** Records whose labels are read at a time. */
const PAGE = 1024;

/**
 * The labels of examples: the only value of that feature, such as `image/class/label`.
 *
 * @returns `undefined` where a part of the files is shown as if it were all.
 */
export function featureLabels(
  container: VirtualFs,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> | undefined {
  const { tree, checkData, location } = container;
  if (!(tree instanceof RecordTree) || !areOpen(tree.sources)) return undefined;
  const files = { sources: tree.sources, table: tree.table };
  // It lies over what the container has opened, and is not closed.
  const reader = new TFRecordReader(files, LOCAL_DISK, checkData);
  return read(reader, location, label, signal);
}

async function* read(
  reader: TFRecordReader,
  location: string,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  for (let start = 0; start < reader.length; start += PAGE) {
    const length = Math.min(PAGE, reader.length - start);
    const indices = Array.from({ length }, (_, i) => start + i);
    const examples = await reader.examples(indices, { signal });
    for (const [i, { features }] of examples.entries()) {
      const value = features[label];
      if (value === undefined || value.length !== 1) {
        throw noLabel(location, label, start + i, value);
      }
      const [only] = value;
      const text = only instanceof Uint8Array ? utf8Text(only) : only;
      yield asLabel(text, start + i, () => reader.fileOf(start + i), label);
    }
  }
}

function noLabel(
  path: string,
  label: string,
  record: number,
  value: FeatureValue | undefined,
): RecordfsError {
  const what = value === undefined
    ? `no feature '${label}'`
    : `${value.length} values of '${label}'`;
  return new RecordfsError(
    "no-label",
    `Record ${record} of ${path} has ${what} to stratify by: give a feature that has one value in all records, such ` +
      "as image/class/label",
    { path, sample: record, actual: label },
  );
}
