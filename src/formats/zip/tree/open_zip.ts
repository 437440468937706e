import type { Steps } from "../../../io/concurrency/steps.ts";
import { decodedBlocks } from "../../../io/decoded/decoded_blocks.ts";
import { mostAtOnce } from "../../../io/decoded/decoded_source.ts";
import { loadPieces } from "../../../io/decoded/decoded_pieces.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { notedInfo, noteLines } from "../../../tree/archive/archive_notes.ts";
import { openIndex } from "../read/open_index.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import type { SkippedMember } from "../../../tree/format.ts";
import { Method } from "../layout.ts";
import { readDirectory } from "../read/central_directory.ts";
import { Fault } from "../read/faults.ts";
import type { ZipIndex } from "../read/zip_columns.ts";
import { newStarts, ZipTree } from "./zip_tree.ts";
import { openFile } from "../../../io/storage/open_file.ts";

/**
 * Opens a zip.
 *
 * @throws {FormatError} If it is damaged, so that members cannot be found.
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
    (sum, method, record) =>
      method === Method.STORED || columns.faults[record] !== Fault.NONE
        ? sum
        : sum + 1,
    0,
  );
  const records = columns.nodes.reduce((sum, node) => sum + (node && 1), 0);
  const links = columns.links.length;
  const facts = {
    ...compressed > 0 ? { compressed } : {},
    ...links > 0 ? { links } : {},
    ...odd,
  };
  return {
    tree,
    info: {
      format: "zip",
      kind: "files",
      files,
      directories: tree.nodeCount - 1 - records,
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
    const tree = yield* treeOf(
      archive,
      storage,
      yield* openIndex(archive, options),
    );
    warnOfAll(noteLines(tree.notes), options.onWarning);
    return tree;
  } catch (error) {
    archive.close();
    throw error;
  }
}

/**
 * Opens a zip as a tree by its central directory alone, which no index that was kept stands for.
 *
 * @param onSkip Called with every member that is skipped.
 */
export function* openTreeAnew(
  path: string,
  storage: Storage,
  onSkip: (member: SkippedMember) => void,
): Steps<ZipTree> {
  const archive = yield* openFile(storage, path);
  try {
    return yield* treeOf(
      archive,
      storage,
      yield* readDirectory(archive, onSkip),
    );
  } catch (error) {
    archive.close();
    throw error;
  }
}

function* treeOf(
  archive: ByteSource,
  storage: Storage,
  { columns, skipped }: ZipIndex,
): Steps<ZipTree> {
  const blocks = decodedBlocks();
  const large = mostAtOnce(blocks);
  const isLarge = columns.sizes.some((size, record) =>
    columns.methods[record] !== Method.STORED &&
    columns.faults[record] === Fault.NONE && size > large
  );
  if (isLarge) yield* loadPieces("deflate");
  return new ZipTree({
    archive,
    storage,
    columns,
    starts: newStarts(columns),
    blocks,
    owner: blocks.newOwner(),
    skipped,
  });
}
