import { asLabel } from "../../../data/split/as_label.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { TarReader } from "../read/tar_reader.ts";
import { tarsOf } from "../tree/open_tars.ts";
import { decodeSample, SAMPLE_DECODERS } from "../../../codecs/file_values.ts";
import { trimSpace, utf8Text } from "../../../base/utf8.ts";

/** Samples whose labels are read at a time. */
const PAGE = 4096;

/**
 * The labels of samples: what the files with that extension say, such as `cls`; those of a text without spaces around.
 *
 * @returns `undefined` where a part of the tars is shown as if it were all.
 */
export function sampleLabels(
  container: VirtualFs,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> | undefined {
  const tars = tarsOf(container.tree);
  return tars &&
    read(new TarReader(tars, LOCAL_DISK), container.location, label, signal);
}

/** @param reader It lies over what the container has opened, and is not closed. */
async function* read(
  reader: TarReader,
  location: string,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const extensions = [label];
  for (let start = 0; start < reader.sampleCount; start += PAGE) {
    const length = Math.min(PAGE, reader.sampleCount - start);
    const indices = Array.from({ length }, (_, i) => start + i);
    const samples = await reader.readSamples(indices, { extensions, signal });
    for (const [i, sample] of samples.entries()) {
      const path = reader.fileOf(start + i);
      if (!(label in sample)) throw noLabel(location, label, sample.__key__);
      const decoded = await decodeSample(sample, SAMPLE_DECODERS, path);
      const value = decoded[label];
      const isBytes = value instanceof Uint8Array;
      const text = isBytes ? utf8Text(value) : value;
      yield asLabel(
        typeof text === "string" ? trimSpace(text) : text,
        start + i,
        () => path,
        label,
      );
    }
  }
}

function noLabel(path: string, label: string, key: string): RecordfsError {
  return new RecordfsError(
    "no-label",
    `The sample '${key}' of ${path} has no file '${key}.${label}' to stratify by: give an extension that all samples ` +
      "have, such as cls",
    { path, actual: label },
  );
}
