import { warnOfAll } from "../../../base/message_text.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { openFile } from "../../../io/storage/open_file.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { archiveInfo } from "../../../tree/archive/archive_info.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import { bytesOf, readCatalog } from "../read/catalog.ts";
import { Hdf5File } from "../read/hdf5_file.ts";
import { findRows, RowSamples } from "../read/row_samples.ts";
import { Hdf5Tree } from "./hdf5_tree.ts";
import { RowTree } from "./row_tree.ts";

/** Opens a file. Throws `FormatError` if it is damaged, so that its objects cannot be listed. */
export function* openHdf5(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK, sampleView = false } = options;
  const file = new Hdf5File(yield* openFile(storage, path));
  try {
    const { catalog, skipped } = yield* readCatalog(file);
    const rows = yield* findRows(file, catalog.columns);
    const { links } = catalog;
    const columns = {
      ...catalog,
      faults: Uint8Array.from(catalog.entries, ({ why }) => why ? 1 : 0),
      linkLengths: sharedUint32(
        Array.from(links, (record) => catalog.entries[record]!.item),
      ),
      rows: rows?.length,
    };
    const tree = new Hdf5Tree({ file, storage, columns, skipped });
    const samples = rows && new RowSamples(rows, file, storage, tree.blocks);
    warnOfAll(noteLines(tree.notes), options.onWarning);
    const info = archiveInfo(tree, [tree], {
      format: "hdf5",
      kind: rows === undefined ? "arrays" : "rows",
      facts: rows === undefined ? {} : { rows: rows.length },
      parts: [{
        path,
        bytes: file.source.size,
        samples: rows?.length ?? fileCount(columns),
      }],
    });
    if (rows === undefined || samples === undefined) return { tree, info };
    const keys = rows.columns.map(({ name, entry }, i) => ({
      name,
      type: samples.fields[i]!.type.name,
      records: rows.length,
      bytes: bytesOf(entry),
    }));
    if (!sampleView) return { tree, samples, info: { ...info, keys } };
    const files = rows.length * rows.columns.length;
    return {
      tree: new RowTree(samples, true),
      samples,
      info: { ...info, keys, files, directories: rows.length },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}
