import { RecordfsError } from "../../base/errors.ts";
import { type BatchRoom, GrowingMemory } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { statFile } from "../file_links.ts";
import { NotLoaded } from "../not_loaded.ts";
import { newStat } from "../tree.ts";
import type { VirtualFs } from "./virtual_fs.ts";
import type { WalkEntry } from "./walk.ts";

const BATCH_ENTRIES = 256;
const BATCH_BYTES = 1 << 20;

/** Consecutive entries of a walk. */
export interface FileBatch {
  readonly entries: readonly WalkEntry[];
  /**
   * Contents of the files among the entries, valid until the next batch is requested. Empty for a file that is too
   * large to read at once. Rejects with a `FormatError` if a content is damaged.
   */
  readonly contents: Promise<readonly Uint8Array[]>;
  /** Whether the batch is one such large file. */
  readonly isLarge: boolean;
  /** Set to keep the contents valid until it resolves. If it rejects, reading ends with that error. */
  until?: Promise<unknown> | undefined;
}

/** Options of {@linkcode readAhead}. */
export interface ReadAheadOptions extends WaitOptions {
  /** Alternating buffers to read into: at least two. Defaults to two new ones. */
  readonly rooms?: readonly BatchRoom[] | undefined;
}

/**
 * Reads the files of a walk in batches, each while the caller handles the one before. Buffers are reused.
 *
 * @throws Errors of the walk, after everything before them was yielded.
 */
export async function* readAhead(
  fs: VirtualFs,
  walk: AsyncIterable<WalkEntry>,
  { signal, rooms = [new GrowingMemory(), new GrowingMemory()] }:
    ReadAheadOptions = {},
): AsyncGenerator<FileBatch> {
  const inRooms: FileBatch[] = [];
  let turn = 0;
  let gathered: WalkEntry[] = [];
  let bytes = 0;
  let reading: FileBatch | undefined;
  /** Starts to read the gathered entries, and returns the batch started before. */
  const start = async () => {
    const ready = reading;
    const isLarge = bytes > BATCH_BYTES;
    const files = isLarge ? [] : gathered.filter(({ isFile }) => isFile);
    const memory = rooms[turn];
    await inRooms[turn]?.until;
    const contents = files.length === 0
      ? NOTHING
      : fs.read(files, { signal, memory });
    contents.catch(() => {}); // reported to the consumer of the batch
    reading = inRooms[turn] = { entries: gathered, contents, isLarge };
    turn = (turn + 1) % rooms.length;
    gathered = [];
    bytes = 0;
    return ready;
  };
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const entry of walk) {
      const known = entry.isFile ? sizeNow(fs, entry) : 0;
      const size = known ?? await sizeOf(fs, entry, signal);
      const isFull = gathered.length === BATCH_ENTRIES ||
        gathered.length > 0 && bytes + size > BATCH_BYTES;
      const ready = isFull ? await start() : undefined;
      if (ready !== undefined) yield ready;
      gathered.push(entry);
      bytes += size;
    }
  } catch (error) {
    failure = { error };
  }
  const ready = await start();
  if (ready !== undefined) yield ready;
  yield reading!;
  if (failure !== undefined) throw failure.error;
}

const NOTHING: Promise<readonly Uint8Array[]> = Promise.resolve([]);
const stat = newStat();

/**
 * Returns a file's size if it is known without waiting: awaiting each of a million files takes longer than all else.
 */
function sizeNow({ tree }: VirtualFs, { ino }: WalkEntry): number | undefined {
  try {
    return statFile(tree, ino, stat) ? stat.size : 0;
  } catch (error) {
    if (error instanceof NotLoaded) return undefined;
    if (error instanceof RecordfsError) return 0; // reading it reports the error
    throw error;
  }
}

async function sizeOf(
  fs: VirtualFs,
  entry: WalkEntry,
  signal: AbortSignal | undefined,
): Promise<number> {
  try {
    return (await fs.stat(entry, { signal })).size;
  } catch (error) {
    if (error instanceof RecordfsError) return 0;
    throw error;
  }
}
