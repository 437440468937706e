import { RecordfsError } from "../../base/errors.ts";
import { type BatchRoom, GrowingMemory } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { statFile } from "../file_links.ts";
import { NotLoaded } from "../not_loaded.ts";
import { newStat } from "../tree.ts";
import type { VirtualFs, WalkEntry } from "./virtual_fs.ts";

/** Files are read together up to these limits. */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 1 << 20;

/** Entries of a walk, in its order. */
export interface FileBatch {
  readonly entries: readonly WalkEntry[];
  /**
   * The contents of the files among them, until the next batch is asked for; none of a file that is too large to be
   * read in one go.
   *
   * @throws {FormatError} If a content is damaged.
   */
  readonly contents: Promise<readonly Uint8Array[]>;
  /** Whether it is one such file. */
  readonly isLarge: boolean;
  /** Set by whoever needs the contents for longer: their memory is used again when it is settled, unless it fails. */
  until?: Promise<unknown> | undefined;
}

/** Options of {@linkcode readAhead}. */
export interface ReadAheadOptions extends WaitOptions {
  /** Memory to read into, in turn: two at least. Defaults to two of its own. */
  readonly rooms?: readonly BatchRoom[] | undefined;
}

/**
 * Reads the files of a walk, many at a time, each batch while the one before is looked at, into memory that is used
 * again.
 *
 * @throws What the walk does, when all that it gave before was given out.
 */
export async function* readAhead(
  fs: VirtualFs,
  walk: AsyncIterable<WalkEntry>,
  { signal, rooms = [new GrowingMemory(), new GrowingMemory()] }:
    ReadAheadOptions = {},
): AsyncGenerator<FileBatch> {
  /** Of each room, what was read into it last. */
  const inRooms: FileBatch[] = [];
  let turn = 0;
  let gathered: WalkEntry[] = [];
  let bytes = 0;
  let reading: FileBatch | undefined;
  /** Starts to read what was gathered, and gives what was started before. */
  const start = async () => {
    const ready = reading;
    const isLarge = bytes > BATCH_BYTES;
    const files = isLarge ? [] : gathered.filter(({ isFile }) => isFile);
    const memory = rooms[turn];
    await inRooms[turn]?.until;
    const contents = files.length === 0
      ? NOTHING
      : fs.read(files, { signal, memory });
    contents.catch(() => {}); // whoever looks at the batch is told
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

/** A file's size, where it is known at once: to wait for each of a million takes longer than all else. */
function sizeNow({ tree }: VirtualFs, { ino }: WalkEntry): number | undefined {
  try {
    return statFile(tree, ino, stat) ? stat.size : 0;
  } catch (error) {
    if (error instanceof NotLoaded) return undefined;
    if (error instanceof RecordfsError) return 0; // reading it says what is wrong
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
