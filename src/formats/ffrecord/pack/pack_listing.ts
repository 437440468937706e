import { LONGEST_PICKLE } from "../../../codecs/pickle/columns.ts";
import { decodeName, encodeName } from "../../../names.ts";
import { MOST_RECORDS } from "../../../tree/names/name_table_builder.ts";
import { writeStructure } from "../folder/write_structure.ts";
import { PackError } from "./pack_problem.ts";
import type { PackRuns } from "./pack_runs.ts";

/** What is noted of a folder: a file, or where a folder in it begins and ends. */
export type ListedEntry =
  | {
    readonly kind: "file";
    readonly name: string;
    readonly size: number;
    /** Last modification, in milliseconds since 1970. */
    readonly mtimeMs: number;
  }
  | { readonly kind: "folder"; readonly name: string }
  | { readonly kind: "end" };

const CHUNK = 1 << 20;

const FILE = 1;
const FOLDER = 2;
const END = 3;
/** Bytes of a record before its name: kind, length of the name, size, time. */
const HEAD = 1 + 2 + 8 + 8;

/** Entries, in memory that other threads see. */
export interface ListingChunk {
  readonly memory: SharedArrayBuffer;
  /** How many bytes of it there are. */
  used: number;
}

/** A place in a listing. */
export interface ListingPlace {
  readonly chunk: number;
  readonly used: number;
}

/** A place, and how many entries there are before it. */
export interface ListingMark extends ListingPlace {
  readonly entries: number;
}

/**
 * The files and folders to pack, in their order, depth first: as bytes one after the other, so that
 * a million of them are a few tens of megabytes, however deep.
 */
export class PackListing {
  /** How many files there are. */
  files = 0;
  /** How many folders, not counting the root. */
  folders = 0;
  /** Bytes of all files. */
  bytes = 0;
  /** Bytes of all names. */
  nameBytes = 0;
  #settledChunk = -1;
  #settledUsed = 0;
  readonly #chunks: ListingChunk[] = [];

  /** What there is, up to its last file: that is not taken back. */
  get settled(): ListingPlace {
    return { chunk: this.#settledChunk, used: this.#settledUsed };
  }

  /** The entries in pieces, in their order. */
  get chunks(): readonly Readonly<ListingChunk>[] {
    return this.#chunks;
  }

  /** Adds a file to the folder that was entered last. */
  addFile(name: string, size: number, mtimeMs = 0): void {
    this.#add(FILE, encodeName(name), size, mtimeMs);
    this.files++;
    this.bytes += size;
    this.#settledChunk = this.#chunks.length - 1;
    this.#settledUsed = this.#chunks[this.#settledChunk]!.used;
  }

  /** Adds a folder; what follows is in it, until {@linkcode PackListing.endFolder}. */
  startFolder(name: string): void {
    this.#add(FOLDER, encodeName(name));
    this.folders++;
  }

  /** Ends the folder that was started last and is not ended yet. */
  endFolder(): void {
    this.#add(END, NO_NAME);
  }

  /** Where the next entry comes. */
  mark(): ListingMark {
    const chunk = this.#chunks.length - 1;
    const used = this.#chunks[chunk]?.used ?? 0;
    return { chunk, used, entries: this.files + this.folders };
  }

  /** Takes back a folder that was started at `mark`, if nothing was added to it. */
  takeBackEmptyFolder({ chunk, used, entries }: ListingMark): boolean {
    if (this.files + this.folders > entries + 1) return false;
    this.#chunks.length = chunk + 1;
    const last = this.#chunks[chunk];
    if (last !== undefined) last.used = used;
    this.folders--;
    return true;
  }

  /** Gives the entries in their order. */
  [Symbol.iterator](): Iterator<ListedEntry> {
    return new ListedEntries(this.#chunks);
  }

  #add(kind: number, name: Uint8Array, size = 0, mtimeMs = 0): void {
    const length = HEAD + name.length;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.used + length > CHUNK) {
      chunk = { memory: new SharedArrayBuffer(CHUNK), used: 0 };
      this.#chunks.push(chunk);
    }
    const { memory, used } = chunk;
    const view = new DataView(memory);
    view.setUint8(used, kind);
    view.setUint16(used + 1, name.length, true);
    view.setFloat64(used + 3, size, true);
    view.setFloat64(used + 11, mtimeMs, true);
    new Uint8Array(memory).set(name, used + HEAD);
    this.nameBytes += name.length;
    chunk.used += length;
  }
}

const NO_NAME = new Uint8Array();

/** The entries of a listing that may grow meanwhile: there are more where there were none before. */
export class ListedEntries implements Iterator<ListedEntry> {
  readonly #chunks: readonly Readonly<ListingChunk>[];
  readonly #runs: PackRuns | undefined;
  #chunk = -1;
  #bytes = NO_NAME;
  #view = new DataView<ArrayBufferLike>(NO_NAME.buffer);
  #at = 0;

  /** @param runs What is taken of the files; all, unless given. */
  constructor(chunks: readonly Readonly<ListingChunk>[], runs?: PackRuns) {
    this.#chunks = chunks;
    this.#runs = runs;
  }

  next(): IteratorResult<ListedEntry, undefined> {
    for (;;) {
      if (!this.#enter()) return END_OF_ENTRIES;
      const [at, view] = [this.#at, this.#view];
      const kind = view.getUint8(at);
      const size = view.getFloat64(at + 3, true);
      const todo = kind === FILE ? this.#runs?.look(size) : undefined;
      if (todo === "stop") return END_OF_ENTRIES;
      const start = at + HEAD;
      this.#at = start + view.getUint16(at + 1, true);
      if (todo === "pass") continue;
      if (kind === END) return { done: false, value: { kind: "end" } };
      const name = decodeName(this.#bytes, start, this.#at);
      if (kind === FOLDER) {
        return { done: false, value: { kind: "folder", name } };
      }
      const mtimeMs = view.getFloat64(at + 11, true);
      return { done: false, value: { kind: "file", name, size, mtimeMs } };
    }
  }

  /** Goes on to the next chunk after the last entry of one; `false` where there is none. */
  #enter(): boolean {
    while (this.#at >= (this.#chunks[this.#chunk]?.used ?? 0)) {
      const next = this.#chunks[this.#chunk + 1];
      if (next === undefined) return false;
      this.#chunk++;
      this.#bytes = new Uint8Array(next.memory as unknown as ArrayBuffer);
      this.#view = new DataView(next.memory);
      this.#at = 0;
    }
    return true;
  }
}

const END_OF_ENTRIES: IteratorResult<ListedEntry, undefined> = {
  done: true,
  value: undefined,
};

/** What an entry takes in the structure beside its name, at most. */
const MOST_OVERHEAD = 24;
/** A byte of a name that is not UTF-8 takes three. */
const MOST_PER_BYTE = 3;

/**
 * Makes sure that what is packed can be opened again.
 *
 * @throws {PackError} If there are more files, or longer names, than a packed folder has room for.
 */
export function requireRoom(
  folder: string,
  listing: PackListing,
  { records = MOST_RECORDS, nameBytes = LONGEST_PICKLE } = {},
): void {
  if (listing.files > records) {
    throw tooLarge(folder, `${listing.files} files`, `${records}`);
  }
  const entries = listing.files + listing.folders;
  const bound = MOST_OVERHEAD * (entries + 4) +
    MOST_PER_BYTE * listing.nameBytes;
  if (bound <= nameBytes) return; // so it is nearly always
  let length = 0;
  for (const piece of writeStructure(listing)) length += piece.length;
  if (length <= nameBytes) return;
  throw tooLarge(folder, `${length} bytes of names`, `${nameBytes} bytes`);
}

function tooLarge(folder: string, has: string, room: string): PackError {
  return new PackError(
    "too-large",
    `Cannot pack ${folder}: it has ${has}, and a packed folder has room for ` +
      `${room}; pack its directories one by one`,
    { path: folder },
  );
}
