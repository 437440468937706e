import { LONGEST_PICKLE } from "../../../codecs/pickle/columns.ts";
import { decodeName, encodeNameInto } from "../../../base/names.ts";
import { MOST_RECORDS } from "../../../tree/names/name_table_builder.ts";
import { writeStructure } from "../folder/write_structure.ts";
import { PackError } from "./pack_problem.ts";
import type { PackRuns } from "./pack_runs.ts";

/** Entry of a listing: a file, or the start or end of a folder. */
export type ListedEntry =
  | {
    readonly kind: "file";
    readonly name: string;
    readonly size: number;
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
/** Upper bound of the bytes that a UTF-16 unit of a name takes. */
const MOST_PER_UNIT = 3;

/** Entries in memory that threads share. */
export interface ListingChunk {
  readonly memory: SharedArrayBuffer;
  used: number;
}

export interface ListingPlace {
  readonly chunk: number;
  readonly used: number;
}

export interface ListingMark extends ListingPlace {
  readonly entries: number;
}

/** Files and folders to pack, depth first, serialized so that a million take a few tens of megabytes at any depth. */
export class PackListing {
  files = 0;
  /** Number of folders, without the root. */
  folders = 0;
  bytes = 0;
  nameBytes = 0;
  #settledChunk = -1;
  #settledUsed = 0;
  readonly #chunks: ListingChunk[] = [];
  #bytes = NO_NAME;
  #view = new DataView<ArrayBufferLike>(NO_NAME.buffer);

  /** Position after the last file, up to which the listing is final. */
  get settled(): ListingPlace {
    return { chunk: this.#settledChunk, used: this.#settledUsed };
  }

  get chunks(): readonly Readonly<ListingChunk>[] {
    return this.#chunks;
  }

  addFile(name: string, size: number, mtimeMs = 0): void {
    this.#add(FILE, name, size, mtimeMs);
    this.files++;
    this.bytes += size;
    this.#settledChunk = this.#chunks.length - 1;
    this.#settledUsed = this.#chunks[this.#settledChunk]!.used;
  }

  startFolder(name: string): void {
    this.#add(FOLDER, name);
    this.folders++;
  }

  endFolder(): void {
    this.#add(END, "");
  }

  mark(): ListingMark {
    const chunk = this.#chunks.length - 1;
    const used = this.#chunks[chunk]?.used ?? 0;
    return { chunk, used, entries: this.files + this.folders };
  }

  /** Removes the folder started at `mark` if it is empty; returns whether it was. */
  takeBackEmptyFolder({ chunk, used, entries }: ListingMark): boolean {
    if (this.files + this.folders > entries + 1) return false;
    this.#chunks.length = chunk + 1;
    const last = this.#chunks[chunk];
    if (last !== undefined) {
      last.used = used;
      this.#look(last);
    }
    this.folders--;
    return true;
  }

  [Symbol.iterator](): ListedEntries {
    return new ListedEntries(this.#chunks);
  }

  #add(kind: number, name: string, size = 0, mtimeMs = 0): void {
    const at = this.#begin(HEAD + MOST_PER_UNIT * name.length);
    const length = encodeNameInto(name, this.#bytes, at + HEAD);
    const view = this.#view;
    view.setUint8(at, kind);
    view.setUint16(at + 1, length, true);
    view.setFloat64(at + 3, size, true);
    view.setFloat64(at + 11, mtimeMs, true);
    this.nameBytes += length;
    this.#chunks.at(-1)!.used = at + HEAD + length;
  }

  /** Returns an offset in the last chunk with room for `length` bytes; adds a chunk if needed. */
  #begin(length: number): number {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.used + length <= CHUNK) return last.used;
    const chunk = { memory: new SharedArrayBuffer(CHUNK), used: 0 };
    this.#chunks.push(chunk);
    this.#look(chunk);
    return 0;
  }

  #look({ memory }: ListingChunk): void {
    this.#bytes = new Uint8Array(memory as unknown as ArrayBuffer);
    this.#view = new DataView(memory);
  }
}

const NO_NAME = new Uint8Array();

/** Iterator over a listing that may grow meanwhile, even after it has returned no more entries. */
export class ListedEntries implements Iterator<ListedEntry> {
  readonly #chunks: readonly Readonly<ListingChunk>[];
  readonly #runs: PackRuns | undefined;
  #chunk = -1;
  #bytes = NO_NAME;
  #view = new DataView<ArrayBufferLike>(NO_NAME.buffer);
  /** Offsets of the current and the next entry. */
  #at = 0;
  #next = 0;

  /** @param runs Selects the files to read; all by default. */
  constructor(chunks: readonly Readonly<ListingChunk>[], runs?: PackRuns) {
    this.#chunks = chunks;
    this.#runs = runs;
  }

  advance(): boolean {
    while (this.#enter()) {
      const [at, view] = [this.#next, this.#view];
      const isFile = view.getUint8(at) === FILE;
      const todo = isFile
        ? this.#runs?.look(view.getFloat64(at + 3, true))
        : undefined;
      if (todo === "stop") return false;
      this.#next = at + HEAD + view.getUint16(at + 1, true);
      if (todo === "pass") continue;
      this.#at = at;
      return true;
    }
    return false;
  }

  get kind(): ListedEntry["kind"] {
    const kind = this.#view.getUint8(this.#at);
    return kind === FILE ? "file" : kind === FOLDER ? "folder" : "end";
  }

  get name(): string {
    return decodeName(this.#bytes, this.#at + HEAD, this.#next);
  }

  /** Bytes of the name, valid until the next {@linkcode ListedEntries.advance}. */
  get nameBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#at + HEAD, this.#next);
  }

  get size(): number {
    return this.#view.getFloat64(this.#at + 3, true);
  }

  /** In milliseconds since 1970. */
  get mtimeMs(): number {
    return this.#view.getFloat64(this.#at + 11, true);
  }

  next(): IteratorResult<ListedEntry, undefined> {
    if (!this.advance()) return { done: true, value: undefined };
    const { kind } = this;
    if (kind === "end") return { done: false, value: { kind } };
    const { name } = this;
    if (kind === "folder") return { done: false, value: { kind, name } };
    const { size, mtimeMs } = this;
    return { done: false, value: { kind, name, size, mtimeMs } };
  }

  /** Moves to the next chunk if this one is exhausted; returns `false` if there is none. */
  #enter(): boolean {
    while (this.#next >= (this.#chunks[this.#chunk]?.used ?? 0)) {
      const next = this.#chunks[this.#chunk + 1];
      if (next === undefined) return false;
      this.#chunk++;
      this.#bytes = new Uint8Array(next.memory as unknown as ArrayBuffer);
      this.#view = new DataView(next.memory);
      this.#next = 0;
    }
    return true;
  }
}

/** Upper bound of an entry's size in the structure, without its name. */
const MOST_OVERHEAD = 24;
/** Three bytes for each byte of a name that is not UTF-8. */
const MOST_PER_BYTE = 3;

/** @throws {PackError} If there are more files, or longer names, than a packed folder has room for. */
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
  if (bound <= nameBytes) return; // nearly always
  let length = 0;
  for (const piece of writeStructure(listing)) length += piece.length;
  if (length <= nameBytes) return;
  throw tooLarge(folder, `${length} bytes of names`, `${nameBytes} bytes`);
}

function tooLarge(folder: string, has: string, room: string): PackError {
  return new PackError(
    "too-large",
    `Cannot pack ${folder}: it has ${has}, and a packed folder has room ` +
      `for ${room}. Pack its directories one by one`,
    { path: folder },
  );
}
