import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { SampleData } from "../../../io/write/sample_data.ts";
import { requireRoom } from "./pack_limits.ts";
import { PackListing } from "./pack_listing.ts";
import { writeStructure } from "../folder/write_structure.ts";
import { FFRecordWriter } from "../write/writer.ts";

/** A file or directory to be packed. */
export interface PackedEntry {
  /** From the root; names with slashes between them. */
  readonly path: string;
  readonly name: string;
  /** How many names below the root: 1 for its own entries. */
  readonly depth: number;
  readonly isDirectory: boolean;
}

/** What is to be packed, wherever it comes from. */
export interface PackableTree<T extends PackedEntry> {
  /** What errors call it. */
  readonly location: string;
  /** Gives all entries, each directory before its content. It is called once for names only. */
  walk(options: WaitOptions): AsyncIterable<T>;
  /** The content of a file. */
  read(file: T, options: WaitOptions): Promise<SampleData>;
}

/**
 * Packs files that need not lie on a disk, in the order in which they come. A file of the target's
 * name is replaced when all is written.
 *
 * @param onFile Told after each file how many are packed.
 * @returns How many files there are.
 * @throws {PackError} If there are more than a packed folder has room for.
 * @throws {WriteError} If it can't be written.
 */
export async function packEntries<T extends PackedEntry>(
  tree: PackableTree<T>,
  target: string,
  onFile: (files: number) => void,
  options: WaitOptions,
): Promise<number> {
  const listing = await listEntries(tree, options);
  requireRoom(tree.location, listing);
  const count = listing.files + 1;
  await using writer = await FFRecordWriter.open(target, { ...options, count });
  for await (const entry of tree.walk(options)) {
    if (entry.isDirectory) continue;
    await writer.write(await tree.read(entry, options), options);
    onFile(writer.length);
  }
  await writer.write(inPieces(writeStructure(listing)), options);
  await writer.close(options);
  return listing.files;
}

async function listEntries<T extends PackedEntry>(
  tree: PackableTree<T>,
  options: WaitOptions,
): Promise<PackListing> {
  const listing = new PackListing();
  let open = 0;
  const leaveTo = (wanted: number) => {
    for (; open > wanted; open--) listing.endFolder();
  };
  for await (const { name, depth, isDirectory } of tree.walk(options)) {
    leaveTo(depth - 1);
    if (!isDirectory) listing.addFile(name, 0);
    else {
      listing.startFolder(name);
      open++;
    }
  }
  leaveTo(0);
  return listing;
}

async function* inPieces(
  pieces: Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces;
}
