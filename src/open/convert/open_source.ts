import { optionText, SUBSET } from "../../base/named_option.ts";
import { FormatError } from "../../base/errors.ts";
import { formatNamed, formats, loadFormat } from "../../formats/registry.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import {
  pathIn,
  type StoredLocation,
} from "../../io/storage/stored_location.ts";
import { LOCAL_DISK } from "../../io/storage/storage.ts";
import { onlyChosen } from "../../data/trees/chosen_samples.ts";
import { findPattern } from "../recognise.ts";
import { open } from "../open.ts";
import {
  ConversionError,
  type ConvertOptions,
  type PlanNotes,
} from "../../convert/conversion.ts";
import {
  ContainerSource,
  ConversionSource,
  RecordSource,
} from "../../convert/from/source.ts";

class FolderSource extends ConversionSource {
  override readonly isFolder = true;

  override noteFiles(notes: PlanNotes): void {
    super.noteFiles(notes);
    notes.kept.push("the files that symbolic links lead to");
    notes.changed.push("owners, modes and times of files are not read");
  }
}

export async function openSource(
  place: StoredLocation,
  options: ConvertOptions,
): Promise<ConversionSource> {
  const { path, storage } = place;
  const { from: format, subset, maxRatio, remote, signal, onWarning } = options;
  const pattern = await runAsync(findPattern(path, storage), signal);
  const names = pattern === undefined
    ? await runAsync(storage.list(path), signal)
    : undefined;
  if (names !== undefined && await isFolder(place, names, format, signal)) {
    return folderAt(place, options);
  }
  let container;
  try {
    const own = { format, maxRatio, remote, signal, onWarning, storage };
    container = await open(path, own);
  } catch (error) {
    if (names === undefined || !isUnknown(error)) throw error;
    return folderAt(place, options, error);
  }
  if (subset !== undefined) {
    container = await onlyChosen(container, subset, { signal });
  }
  try {
    const entry = formatNamed(container.info.format);
    const { openSource } = await loadFormat(entry);
    const areContents = container.samples?.fields?.length === 0;
    const source =
      await openSource?.(container, { signal, onWarning, storage }) ??
        (areContents
          ? new RecordSource(container, entry.name, "records")
          : new ContainerSource(container, entry.name));
    if (subset === undefined || source.subset !== undefined) return source;
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert some samples of ${path}: its format '${entry.name}' converts only whole ` +
        `containers. Remove ${optionText(SUBSET)}`,
      path,
      [],
      undefined,
      [SUBSET],
    );
  } catch (error) {
    container.close();
    throw error;
  }
}

/**
 * Opens a folder as plain files; throws if it is not local, or only some samples of it are to be converted. `cause` is
 * why it is not a container.
 */
function folderAt(
  { path, storage }: StoredLocation,
  { subset }: ConvertOptions,
  cause?: unknown,
): FolderSource {
  if (subset !== undefined) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert some samples of ${path}: it is a folder of files and no container, and has no numbered ` +
        `samples. Remove ${optionText(SUBSET)}`,
      path,
      [],
      cause,
      [SUBSET],
    );
  }
  if (storage === LOCAL_DISK) return new FolderSource(path, "a folder");
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${path}: it is a folder of files, not a container, and is not on this machine. ` +
      "Copy it here",
    path,
    [],
    cause,
  );
}

/** Whether to convert a directory as plain files. */
async function isFolder(
  { path, storage }: StoredLocation,
  names: readonly string[],
  format: string | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (format !== undefined) return format === FOLDER;
  const namesIn = (name: string) => storage.list(pathIn(path, name));
  for (const { isExtracted } of formats()) {
    if (isExtracted && await runAsync(isExtracted(names, namesIn), signal)) {
      return true;
    }
  }
  return false;
}

/** Name of a plain folder in the options `from` and `to`. */
export const FOLDER = "folder";

function isUnknown(error: unknown): boolean {
  return error instanceof FormatError && error.code === "unknown-format";
}
