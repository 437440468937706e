import type { Samples } from "../../tree/samples/samples.ts";
import { SamplesReader } from "../../tree/samples/samples_reader.ts";
import { RecordfsError } from "../../base/errors.ts";
import { formatNamed, loadFormat } from "../../formats/registry.ts";
import { ROOT } from "../../tree/tree.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../../tree/vfs/walk.ts";
import { countSamples } from "./counted_samples.ts";
import { LabelColumn } from "../../data/split/label_column.ts";

const LABELS = ["bigint", "boolean", "number", "string"];

/** Options of {@linkcode readLabels}. */
export interface ReadLabelsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of samples whose labels have been read. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** Depth, below the root, of the directory that a file label is named by. */
const OF_FILES: Record<string, (depth: number) => number> = {
  dir: (depth) => Math.min(depth - 1, 1),
  parent: (depth) => depth - 1,
};

/** Whether files of any container have such a label. */
export function isFileLabel(label: string): boolean {
  return Object.hasOwn(OF_FILES, label);
}

/**
 * Reads the labels of a container's samples, in index order.
 *
 * @param label For videos, a key of their metadata. For datapoints, a key of the dataset. For files, `dir` for the
 * first directory of their path, or `parent` for the whole path of their directory.
 * @throws {RecordfsError} With code `no-label` if the samples have no such label.
 */
export async function readLabels(
  container: VirtualFs,
  label: string,
  options: ReadLabelsOptions = {},
): Promise<LabelColumn> {
  const { unit, length } = countSamples(container.info);
  const column = new LabelColumn(length);
  const format = await loadFormat(formatNamed(container.info.format));
  const labels = unit === "files"
    ? namesOf(container, label, options.signal)
    : container.samples !== undefined && container.samples.fields?.length !== 0
    ? labelsOf(container.samples, label, options.signal)
    : await format.readLabels?.(container, label, options.signal);
  if (labels === undefined) {
    throw new RecordfsError(
      "no-label",
      `Cannot stratify ${container.location}: its samples are bytes without labels`,
      { path: container.location },
    );
  }
  for await (const found of labels) {
    if (column.length === length) break; // reported below
    if (typeof found === "string") column.add(found);
    else column.add(found.path, found.ino);
    options.onProgress?.(column.length);
  }
  if (column.length === length) return column;
  throw new RecordfsError(
    "no-label",
    `Cannot read the labels of ${container.location}: of ${length} ${unit}, only ${column.length} could be read. ` +
      "Run `recordfs check` to see why",
    { path: container.location, expected: length, actual: column.length },
  );
}

/** Labels, or directories that are labels, whose paths may be too long to be looked up. */
type Labels = AsyncGenerator<string | LabelDirectory, void, undefined>;

type LabelDirectory = Pick<WalkEntry, "path" | "ino">;

async function* namesOf(
  container: VirtualFs,
  label: string,
  signal?: AbortSignal,
): Labels {
  const depthOf = isFileLabel(label) ? OF_FILES[label] : undefined;
  if (depthOf === undefined) {
    throw new RecordfsError(
      "no-label",
      `Cannot stratify by '${label}': files have no such label. Stratify ${container.location} by 'dir', the ` +
        "first directory of their paths, or by 'parent', the directory that they are in",
      { path: container.location, actual: label },
    );
  }
  const directories: LabelDirectory[] = [{ path: "", ino: ROOT }];
  for await (const entry of container.walk("", { signal })) {
    if (entry.isFile) yield directories[depthOf(entry.depth)]!;
    else {
      directories.length = entry.depth;
      directories.push(entry);
    }
  }
}

/** Number of samples whose labels are read at once. */
const PAGE = 1024;

/** Yields the values of a field that every sample must have, as a text or number. */
async function* labelsOf(
  samples: Samples,
  label: string,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = new SamplesReader(samples, [label]); // not closed: the container stays open
  for (let start = 0; start < reader.length; start += PAGE) {
    const length = Math.min(PAGE, reader.length - start);
    const indices = Array.from({ length }, (_, i) => start + i);
    const decoded = await reader.decoded(indices, { signal })
      .catch((cause) => throwNoField(label, cause));
    for (const [i, sample] of decoded.entries()) {
      const index = start + i;
      const value = samples.valueIn === undefined
        ? (sample as Readonly<Record<string, unknown>>)[label]
        : samples.valueIn(sample, label);
      const path = () => reader.fileOf(index);
      if (value === undefined) throw noLabel(samples, index, label, path());
      const key = samples.keyOf && (() => samples.keyOf!(index));
      yield asLabel(value, index, path, label, key);
    }
  }
}

/** Reports a missing field as a missing label. */
function throwNoField(label: string, cause: unknown): never {
  const isNone = cause instanceof RecordfsError &&
    ["no-column", "unknown-key"].includes(cause.code);
  if (!isNone) throw cause;
  const { message, path, sample } = cause;
  throw new RecordfsError(
    "no-label",
    `Cannot stratify by '${label}': ${message}. Give a field that has a text or a number in all samples`,
    { path, sample, actual: label, cause },
  );
}

function noLabel(
  samples: Samples,
  sample: number,
  label: string,
  path: string,
): RecordfsError {
  const key = samples.keyOf?.(sample);
  const called = key === undefined ? sample : `'${key}'`;
  return new RecordfsError(
    "no-label",
    `Cannot stratify ${path}: its ${samples.unit} ${called} has no single value of '${label}'. Give a field that has one in all`,
    { path, sample, actual: label },
  );
}

/** Returns a value as a label. Throws a `no-label` error if it is not a text, a number or a boolean. */
function asLabel(
  value: unknown,
  sample: number,
  path: () => string,
  label: string,
  key?: () => string,
): string {
  if (LABELS.includes(typeof value)) return String(value);
  const called = key === undefined ? "" : ` ('${key()}')`;
  throw new RecordfsError(
    "no-label",
    `Cannot read label '${label}' of sample ${sample}${called} of ` +
      `${path()}: it has none that is a text or a number`,
    { path: path(), sample, actual: value },
  );
}
