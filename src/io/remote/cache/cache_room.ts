import * as fs from "node:fs";
import { unlessForeign } from "../../dirfd/trust.ts";
import type { TrustedDirectory } from "../../dirfd/trusted_directory.ts";
import { CACHE_BLOCK } from "./block_store.ts";
import { CacheLedger, isObjectName, OBJECTS } from "./cache_ledger.ts";
import type { CacheRoot } from "./cache_root.ts";
import type { ObjectPlace } from "./cached_object.ts";
import type { LedgerTable } from "./ledger_table.ts";
import { FACTS, isTemporary } from "./object_facts.ts";
import { PlacesInUse } from "./places_in_use.ts";

/** The default limit is this part of the disk space that would be free without the cache. */
const SHARE = 5;
/** Disk space left for others, in bytes. */
const SPARE = 64 << 20;
/** Bytes stored between checks of the free disk space. */
const LOOK_EVERY = 256 << 20;
/** Part of the limit that is freed at a time, unless that takes many objects. */
const PIECE = 16;
/** Objects deleted at a time if they free enough; and at most, so that others need not wait long. */
const MANY = 64;
const MOST_AT_ONCE = 256;
/** Objects compared at a time, of which those used last stay. */
const BATCH = 64;
/** Unknown objects inspected per call to store, after the ledger was rebuilt. */
const UNKNOWN_AT_ONCE = 8;
/** Part of the limit that may be in use before existing objects are listed, so that short programs need not wait. */
const UNLISTED = 32;
/** Pause in milliseconds if no space could be made, because objects in use stay so for longer. */
const PAUSE = 1000;
/** Unit of a file's block count, in bytes. */
const DISK_BLOCK = 512;
/** Size of a directory on most disks, in bytes. */
const DIRECTORY = 4096;
/** Size of a new object without its blocks: two directories, and files of facts, checksums and counts. */
const NEW = 5 * DIRECTORY;
/** Files of an object. The facts are deleted first: without them, it is no longer an object. */
const FILES = [FACTS, "sums", "data", "counts", "lock"] as const;
/** Most states kept of an object, unless more are in use. */
const MOST_STATES = 8;

interface RoomState {
  readonly place: ObjectPlace;
  readonly bytes: number;
  /** When it was last opened, in milliseconds since 1970. */
  readonly used: number;
}

/**
 * Size limit of a cache, shared by all programs through its ledger. Space is made by deleting objects that no program
 * has open. Of some tens compared at a time, evicts the least recently used (approximate LRU), so that making space
 * costs in proportion to what is deleted, however many objects there are.
 */
export class CacheRoom {
  readonly #root: CacheRoot;
  readonly #size: number | undefined;
  readonly #ledger: CacheLedger;
  readonly #inUse: PlacesInUse;
  #limit = 0;
  #sinceLook = Infinity;
  #isDiskFull = false;
  #pauseUntil = 0;
  /** Number of states entered and not left. */
  #entered = 0;

  constructor(root: CacheRoot, size: number | undefined) {
    this.#root = root;
    this.#size = size;
    this.#ledger = new CacheLedger(root);
    this.#inUse = PlacesInUse.of(root);
  }

  /**
   * Creates the directory of an object's state, which nobody deletes until {@linkcode CacheRoom.leave}. Returns
   * `undefined` if another program holds the ledger for too long.
   */
  enter(place: ObjectPlace): TrustedDirectory | undefined {
    using root = this.#root.make([]);
    this.#ledger.reopen(root);
    return this.#use((table) => {
      const [object, state] = place;
      using objects = root.make(OBJECTS);
      using above = objects.make(object);
      this.#dropStates(table, objects, above, place);
      const known = table.bytesOf(object) ?? bytesBelow(above, object);
      const isThere = above.list().includes(state);
      const directory = above.make(state);
      try {
        table.set(object, isThere ? known : known + NEW);
        this.#inUse.add(place);
        this.#entered++;
        return directory;
      } catch (error) {
        directory[Symbol.dispose]();
        throw error;
      }
    });
  }

  /** Allows others to delete an entered state. */
  leave(place: ObjectPlace): void {
    this.#inUse.remove(place);
    if (--this.#entered === 0) this.#ledger.close();
  }

  /**
   * Reserves space for bytes added to an entered object, and for those `ahead` if there is space, evicting unused
   * objects if needed. Returns the bytes reserved: all including those ahead, all without, or fewer whole blocks.
   */
  take([object]: ObjectPlace, bytes: number, ahead: number): number {
    const taken = this.#use((table) => {
      this.#lookAtUnknown(table);
      if (table.unknown > 0 || this.#sinceLook + bytes > LOOK_EVERY) {
        this.#measure(table);
      }
      if (!table.isListed && table.bytes + bytes > this.#limit / UNLISTED) {
        table.list();
        this.#lookAtUnknown(table);
        this.#measure(table);
      }
      const needed = table.bytes + bytes - this.#limit;
      if (needed > 0) {
        const piece = Math.floor(this.#limit / PIECE);
        this.#make(table, needed, needed + Math.max(0, piece - bytes));
      }
      const left = Math.max(0, this.#limit - table.bytes);
      const taken = bytes + ahead <= left
        ? bytes + ahead
        : bytes <= left
        ? bytes
        : left - left % CACHE_BLOCK;
      if (taken > 0) table.set(object, this.#bytesOf(table, object) + taken);
      return taken;
    }) ?? 0;
    this.#sinceLook += taken;
    if (taken < bytes && this.#isDiskFull) {
      this.#root.warn(new Error("its disk has no room left"));
    }
    return taken;
  }

  /** Returns space that was reserved ahead and not used. */
  giveBack([object]: ObjectPlace, bytes: number): void {
    this.#use((table) => {
      const known = table.bytesOf(object);
      if (known !== undefined) table.set(object, Math.max(0, known - bytes));
    });
  }

  /** Deletes a state of an object, unless a program has it open. Returns whether it was deleted. */
  remove(place: ObjectPlace): boolean {
    return this.#use((table) => {
      if (this.#inUse.all().has(place.join("/"))) return false;
      using objects = this.#root.open([OBJECTS]);
      return objects !== undefined && deleteState(table, objects, place);
    }) ?? false;
  }

  /** Deletes empty directories of objects, and what killed programs left of objects they were deleting. */
  removeLeftovers(): void {
    using objects = this.#root.open([OBJECTS]);
    const names = objects?.list().filter(isObjectName) ?? [];
    for (let start = 0; start < names.length; start += BATCH) {
      this.#use((table) => {
        const inUse = this.#inUse.all();
        for (const object of names.slice(start, start + BATCH)) {
          for (const { place, used } of look(table, objects!, object, inUse)) {
            if (used === 0) deleteState(table, objects!, place);
          }
        }
      });
    }
  }

  #use<T>(call: (table: LedgerTable) => T): T | undefined {
    try {
      return this.#ledger.use(call);
    } finally {
      if (this.#entered === 0) this.#ledger.close();
    }
  }

  #measure(table: LedgerTable): void {
    this.#sinceLook = 0;
    const { bavail, bsize } = fs.statfsSync(this.#root.path);
    const free = Math.max(0, bavail * bsize - SPARE);
    // Counts the cache itself as free, so that the limit does not depend on how full the cache is.
    const share = Math.floor((table.bytes + free) / SHARE);
    this.#limit = Math.min(this.#size ?? share, table.bytes + free);
    this.#isDiskFull = free === 0;
  }

  #bytesOf(table: LedgerTable, object: string): number {
    const known = table.bytesOf(object);
    if (known !== undefined) return known;
    using above = this.#root.open([OBJECTS, object]);
    return above === undefined ? 0 : bytesBelow(above, object);
  }

  #lookAtUnknown(table: LedgerTable): void {
    if (table.unknown === 0) return;
    using objects = this.#root.open([OBJECTS]);
    if (objects === undefined) return;
    for (const { name } of table.next(UNKNOWN_AT_ONCE, true)) {
      look(table, objects, name);
    }
  }

  /**
   * Deletes objects that no program has open, until enough bytes are free or all objects were inspected.
   *
   * @param needed Bytes needed now.
   * @param wanted Bytes to free at once, unless that takes many objects.
   */
  #make(table: LedgerTable, needed: number, wanted: number): void {
    if (performance.now() < this.#pauseUntil) return;
    using objects = this.#root.open([OBJECTS]);
    if (objects === undefined) return;
    const inUse = this.#inUse.all();
    const idle: RoomState[] = [];
    let freed = 0;
    let deleted = 0;
    const isEnough = () =>
      freed >= wanted || deleted >= MANY && freed >= needed ||
      deleted >= MOST_AT_ONCE;
    for (let left = table.count; !isEnough();) {
      const batch = table.next(Math.min(BATCH, left));
      left = batch.length === 0 ? 0 : left - batch.length;
      for (const { name, bytes } of batch) {
        if (inUse.has(name) && bytes !== undefined) continue;
        idle.push(...look(table, objects, name, inUse));
      }
      idle.sort((a, b) => b.used - a.used);
      // The other half is compared with the next batch.
      const most = left > 0 ? Math.ceil(idle.length / 2) : idle.length;
      for (let i = 0; i < most && !isEnough(); i++) {
        const { place, bytes } = idle.pop()!;
        if (!deleteState(table, objects, place)) continue;
        freed += bytes;
        deleted++;
      }
      if (left === 0) break;
    }
    if (freed < needed && deleted < MOST_AT_ONCE) {
      this.#pauseUntil = performance.now() + PAUSE;
    }
  }

  /** Deletes an object's least recently used states, if there are many. */
  #dropStates(
    table: LedgerTable,
    objects: TrustedDirectory,
    above: TrustedDirectory,
    [object, state]: ObjectPlace,
  ): void {
    const names = above.list().filter(isObjectName);
    const most = names.includes(state) ? MOST_STATES : MOST_STATES - 1;
    if (names.length <= most) return;
    const inUse = this.#inUse.all().add(`${object}/${state}`);
    const idle = look(table, objects, object, inUse)
      .sort((a, b) => a.used - b.used);
    for (const { place } of idle.slice(0, names.length - most)) {
      deleteState(table, objects, place);
    }
  }
}

/** Inspects an object on disk, records its size, and returns its unused states. Deletes an empty directory. */
function look(
  table: LedgerTable,
  objects: TrustedDirectory,
  object: string,
  inUse: ReadonlySet<string> = new Set(),
): RoomState[] {
  using above = unlessForeign(() => objects.open(object));
  if (above === undefined) {
    table.remove(object);
    return [];
  }
  const states = statesIn(above, object);
  if (states.length === 0 && objects.removeDirectory(object)) {
    table.remove(object);
    return [];
  }
  table.set(object, sumOf(states));
  return states.filter(({ place }) => !inUse.has(place.join("/")));
}

function bytesBelow(above: TrustedDirectory, object: string): number {
  return sumOf(statesIn(above, object));
}

function sumOf(states: readonly RoomState[]): number {
  return states.reduce((sum, { bytes }) => sum + bytes, DIRECTORY);
}

/** Inspects an object's states on disk, ignoring those of untrusted users. */
function statesIn(above: TrustedDirectory, object: string): RoomState[] {
  return above.list().filter(isObjectName).flatMap((state) => {
    using directory = unlessForeign(() => above.open(state));
    if (directory === undefined) return [];
    let bytes = DIRECTORY;
    let used = 0;
    for (const name of FILES) {
      const facts = unlessForeign(() => directory.stat(name));
      bytes += (facts?.blocks ?? 0) * DISK_BLOCK;
      if (name === FACTS) used = facts?.mtimeMs ?? 0;
    }
    return [{ place: [object, state] as const, bytes, used }];
  });
}

/**
 * Deletes a state of an object, and the object's directory with the last one. Returns `false` if it is missing, or an
 * older version of the program uses it.
 */
function deleteState(
  table: LedgerTable,
  objects: TrustedDirectory,
  [object, state]: ObjectPlace,
): boolean {
  using above = objects.open(object);
  using directory = above?.open(state);
  if (directory === undefined) return false;
  using lock = unlessForeign(() => directory.openFile("lock", "write"));
  if (lock?.tryLock(true) === false) return false;
  for (const name of FILES) directory.remove(name);
  for (const name of directory.list()) { // left by killed programs
    if (isTemporary(name, FACTS)) directory.remove(name);
  }
  above!.removeDirectory(state);
  if (objects.removeDirectory(object)) table.remove(object);
  else table.set(object, bytesBelow(above!, object));
  return true;
}
