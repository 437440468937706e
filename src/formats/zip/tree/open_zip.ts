import type { Steps } from "../../../io/concurrency/steps.ts";
import { decodedBlocks } from "../../../io/block_cache/decoded_blocks.ts";
import { mostAtOnce } from "../../../io/block_cache/decoded_source.ts";
import { loadInner } from "../../../io/compressed/methods.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../../../tree/format.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { archiveInfo } from "../../../tree/archive/archive_info.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { fileCount } from "../../../tree/archive/archive_tree.ts";
import { openIndex } from "../read/open_index.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { isDecoded, type ZipIndex } from "../read/zip_columns.ts";
import { newStarts, ZipTree } from "./zip_tree.ts";
import { openFile } from "../../../io/storage/open_file.ts";

/** Opens a zip; throws FormatError if it is damaged, so that members cannot be found. */
export function* openZip(
  path: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK } = options;
  const tree = yield* openTree(path, storage, options);
  const { columns, archive } = tree;
  const compressed = columns.methods.reduce(
    (sum, _, record) => isDecoded(columns, record) ? sum + 1 : sum,
    0,
  );
  const info = archiveInfo(tree, [tree], {
    format: "zip",
    kind: "files",
    facts: compressed > 0 ? { compressed } : {},
    parts: [{ path, bytes: archive.size, samples: fileCount(columns) }],
  });
  return { tree, info };
}

/** Opens a zip as a tree; throws like {@linkcode openZip}. By default, its index may come from the index cache. */
export function* openTree(
  path: string,
  storage: Storage,
  options: Pick<ContainerOptions, "onWarning" | "remote">,
  readIndex: (archive: ByteSource) => Steps<ZipIndex> = (archive) =>
    openIndex(archive, options),
): Steps<ZipTree> {
  const archive = yield* openFile(storage, path);
  try {
    const { columns, skipped } = yield* readIndex(archive);
    const blocks = decodedBlocks();
    const large = mostAtOnce(blocks);
    const isLarge = columns.sizes.some((size, record) =>
      size > large && isDecoded(columns, record)
    );
    if (isLarge) yield* loadInner(["deflate", "zstd"]);
    const tree = new ZipTree({
      archive,
      storage,
      columns,
      starts: newStarts(columns),
      blocks,
      owner: blocks.newOwner(),
      cache: options.remote?.cache,
      skipped,
    });
    warnOfAll(noteLines(tree.notes), options.onWarning);
    return tree;
  } catch (error) {
    archive.close();
    throw error;
  }
}
