import * as fs from "node:fs";
import { unlessForeign } from "../../directories/trust.ts";
import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import { BLOCK } from "./block_store.ts";
import { CacheLedger, isObjectName, OBJECTS } from "./cache_ledger.ts";
import type { CacheRoot } from "./cache_root.ts";
import type { ObjectPlace } from "./cached_object.ts";
import type { LedgerTable } from "./ledger_table.ts";
import { FACTS, isTemporary } from "./object_facts.ts";
import { PlacesInUse } from "./places_in_use.ts";

/** Part of the room that is free but for the cache which it takes, unless it is said how much. */
const SHARE = 5;
/** Of the disk's room, what is left for others. */
const SPARE = 64 << 20;
/** Bytes after which it is looked anew how much room the disk has. */
const LOOK_EVERY = 256 << 20;
/** Of the cache, what is made room at a time, unless that is many objects. */
const PIECE = 16;
/** Objects that are deleted at a time, where these make room enough; and at most, so that others need not wait long. */
const MANY = 64;
const MOST_AT_ONCE = 256;
/** Objects that are looked at together: of these, those that were used last stay. */
const BATCH = 64;
/** Unknown objects that are looked at each time something is kept: after the ledger was made anew. */
const UNKNOWN_AT_ONCE = 8;
/** Part of the limit that may be added to objects that nobody has listed: short programs need not wait for that. */
const UNLISTED = 32;
/** Pause after no room could be made, in milliseconds: objects that are in use stay so for longer. */
const PAUSE = 1000;
/** Bytes of the unit in which files' blocks are counted. */
const DISK_BLOCK = 512;
/** Bytes that a directory takes on most disks. */
const DIRECTORY = 4096;
/** Bytes that a new object takes besides its blocks: two directories, and files of facts, sums and counts. */
const NEW = 5 * DIRECTORY;
/** Files of an object. The facts come first: without, it is no object any more. */
const FILES = [FACTS, "sums", "data", "counts", "lock"] as const;
/** States of an object that are kept, unless more are in use. */
const MOST_STATES = 8;

/** A state of an object, as it is on the disk. */
interface KeptState {
  readonly place: ObjectPlace;
  readonly bytes: number;
  /** When it was opened last, in milliseconds since 1970. */
  readonly used: number;
}

/**
 * The room that a cache takes: one limit for all programs, kept by its ledger. Room is made by deleting objects that no
 * program has open. Of some tens that are looked at, those go that were used least recently (approximate LRU), so that
 * making room costs as much as what is deleted, however many objects there are.
 */
export class CacheRoom {
  readonly #root: CacheRoot;
  readonly #size: number | undefined;
  readonly #ledger: CacheLedger;
  readonly #inUse: PlacesInUse;
  #limit = 0;
  #sinceLook = Infinity;
  #isDiskFull = false;
  /** When to try again to make room. */
  #pauseUntil = 0;
  /** Places that were entered, and not left. */
  #entered = 0;

  /** @param size The limit in bytes. Defaults to a share of the disk. */
  constructor(root: CacheRoot, size: number | undefined) {
    this.#root = root;
    this.#size = size;
    this.#ledger = new CacheLedger(root);
    this.#inUse = PlacesInUse.of(root);
  }

  /**
   * Makes the directory of a state of an object, which nobody deletes until {@linkcode CacheRoom.leave}.
   *
   * @returns `undefined` if another program holds the ledger for too long.
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

  /** Lets others delete what was entered. */
  leave(place: ObjectPlace): void {
    this.#inUse.remove(place);
    if (--this.#entered === 0) this.#ledger.close();
  }

  /**
   * Takes room for bytes that are added to an object that was entered; makes some by what nobody uses.
   *
   * @param ahead Bytes that are taken as well if there is room for them.
   * @returns How many may be added: all with those ahead, all without, or fewer whole blocks.
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
        : left - left % BLOCK;
      if (taken > 0) table.set(object, this.#bytesOf(table, object) + taken);
      return taken;
    }) ?? 0;
    this.#sinceLook += taken;
    if (taken < bytes && this.#isDiskFull) {
      this.#root.warn(new Error("its disk has no room left"));
    }
    return taken;
  }

  /** Gives back what was taken ahead, and not used. */
  giveBack([object]: ObjectPlace, bytes: number): void {
    this.#use((table) => {
      const known = table.bytesOf(object);
      if (known !== undefined) table.set(object, Math.max(0, known - bytes));
    });
  }

  /**
   * Deletes a state of an object, unless a program has it open.
   *
   * @returns Whether it is gone.
   */
  remove(place: ObjectPlace): boolean {
    return this.#use((table) => {
      if (this.#inUse.all().has(place.join("/"))) return false;
      using objects = this.#root.open([OBJECTS]);
      return objects !== undefined && deleteState(table, objects, place);
    }) ?? false;
  }

  /** Deletes empty directories of objects, and what killed programs have left of those that they deleted. */
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
    // What it has counts as free: it would grow with every look otherwise.
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
   * Deletes objects that no program has open, until enough bytes are free or all have been looked at.
   *
   * @param needed Bytes that are needed now.
   * @param wanted Bytes that are deleted at once, unless that is many objects.
   */
  #make(table: LedgerTable, needed: number, wanted: number): void {
    if (performance.now() < this.#pauseUntil) return;
    using objects = this.#root.open([OBJECTS]);
    if (objects === undefined) return;
    const inUse = this.#inUse.all();
    const idle: KeptState[] = [];
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
      // The other half is compared with the next ones.
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

  /** Deletes states of an object that were used least recently, where there are many. */
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

/**
 * Looks at an object on the disk and notes its bytes. An empty directory is deleted.
 *
 * @param inUse Names of states that are in use.
 * @returns Its states that nobody uses.
 */
function look(
  table: LedgerTable,
  objects: TrustedDirectory,
  object: string,
  inUse: ReadonlySet<string> = new Set(),
): KeptState[] {
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

function sumOf(states: readonly KeptState[]): number {
  return states.reduce((sum, { bytes }) => sum + bytes, DIRECTORY);
}

/** What the disk has of an object; what is not of those who are trusted is left alone. */
function statesIn(above: TrustedDirectory, object: string): KeptState[] {
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
 * Deletes a state of an object, and the object's directory with the last one.
 *
 * @returns Whether it is gone: an older program may use it.
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
  for (const name of directory.list()) { // of who was killed
    if (isTemporary(name, FACTS)) directory.remove(name);
  }
  above!.removeDirectory(state);
  if (objects.removeDirectory(object)) table.remove(object);
  else table.set(object, bytesBelow(above!, object));
  return true;
}
