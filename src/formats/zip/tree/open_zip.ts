import type { Steps } from "../../../io/concurrency/steps.ts";
import { decodedBlocks } from "../../../io/decoded/decoded_blocks.ts";
import { mostAtOnce } from "../../../io/decoded/decoded_source.ts";
import { loadPieces } from "../../../io/decoded/decoded_pieces.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { warnOfAll } from "../../../message_text.ts";
import { notedInfo, noteLines } from "../../../tree/archive/archive_notes.ts";
import { openIndex } from "../read/open_index.ts";
import { fileCount } from "../read/zip_columns.ts";
import { newStarts, ZipTree } from "./zip_tree.ts";
import { openFile } from "../../../io/storage/open_file.ts";

/**
 * Opens a zip.
 *
 * @throws {FormatError} If it is damaged, lies, or has what is not supported.
 */
export function* openZip(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  const tree = yield* openTree(path, storage, options);
  const { columns, archive } = tree;
  const { facts: odd, ...noted } = notedInfo(tree.notes);
  const files = fileCount(columns);
  const compressed = columns.methods.reduce(
    (sum, method) => method === 0 ? sum : sum + 1,
    0,
  );
  const facts = { ...compressed > 0 ? { compressed } : {}, ...odd };
  return {
    tree,
    info: {
      format: "zip",
      kind: "files",
      files,
      directories: tree.nodeCount - 1 - files,
      bytes: archive.size,
      ...Object.keys(facts).length > 0 ? { facts } : {},
      ...noted,
      parts: [{ path, bytes: archive.size, samples: files }],
    },
  };
}

/** Opens a zip as a tree; as {@linkcode openZip}. */
export function* openTree(
  path: string,
  storage: Storage,
  options: Pick<ContainerOptions, "onWarning" | "remote">,
): Steps<ZipTree> {
  const archive = yield* openFile(storage, path);
  try {
    const { columns, skipped } = yield* openIndex(archive, options);
    const unreadable = { listed: [], count: 0 };
    const notes = { archive: archive.name, skipped, unreadable };
    warnOfAll(noteLines([notes]), options.onWarning);
    const blocks = decodedBlocks();
    const large = mostAtOnce(blocks);
    const isLarge = columns.sizes.some((size, record) =>
      columns.methods[record] !== 0 && size > large
    );
    if (isLarge) yield* loadPieces("deflate");
    return new ZipTree({
      archive,
      storage,
      columns,
      starts: newStarts(columns),
      blocks,
      owner: blocks.newOwner(),
      notes,
    });
  } catch (error) {
    archive.close();
    throw error;
  }
}
