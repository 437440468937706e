import { Buffer } from "node:buffer";
import type { EntryFile } from "../../dirfd/entries.ts";
import { unlessForeign } from "../../dirfd/trust.ts";
import type { CacheRoot } from "./cache_root.ts";
import type { ObjectPlace } from "./cached_object.ts";
import { isObjectName } from "./cache_ledger.ts";

/** Directory with a file for each thread that has objects open, locked as long as it has. */
const PROGRAMS = "programs";
/** Size of an entry in such a file: two hashes. */
const PLACE = 32;
/** Most objects of one thread that are read from its file. */
const MOST = 1 << 20;
const AT_ONCE = 1 << 10;
const NO_PLACE = Buffer.alloc(PLACE);

/** The objects that a thread has open, in a file that other programs read before they delete any. */
export class PlacesInUse {
  readonly #root: CacheRoot;
  #name = "";
  #file: EntryFile | undefined;
  readonly #slots = new Map<string, { readonly slot: number; users: number }>();
  readonly #free: number[] = [];

  private constructor(root: CacheRoot) {
    this.#root = root;
  }

  /** Returns the instance of this thread, shared by all that open the cache. */
  static of(root: CacheRoot): PlacesInUse {
    const key = `${root.path}\n${root.isShared}`;
    let places = OF_CACHES.get(key);
    if (places === undefined) {
      OF_CACHES.set(key, places = new PlacesInUse(root));
    }
    return places;
  }

  /** Adds an object. Must be called while the ledger is held. */
  add(place: ObjectPlace): void {
    const key = place.join("");
    const known = this.#slots.get(key);
    if (known !== undefined) {
      known.users++;
      return;
    }
    const file = this.#file ??= this.#make();
    const slot = this.#free.pop() ?? this.#slots.size;
    file.write(Buffer.from(key, "hex"), slot * PLACE);
    this.#slots.set(key, { slot, users: 1 });
  }

  remove(place: ObjectPlace): void {
    const key = place.join("");
    const known = this.#slots.get(key);
    if (known === undefined || --known.users > 0) return;
    this.#slots.delete(key);
    if (this.#slots.size === 0) return this.#end();
    this.#free.push(known.slot);
    this.#file!.write(new Uint8Array(PLACE), known.slot * PLACE);
  }

  /**
   * Returns the names of all objects open in any program, and of `OBJECT/STATE`. Deletes what killed programs have
   * left. Must be called while the ledger is held.
   */
  all(): Set<string> {
    const all = new Set<string>();
    const add = (object: string, state: string) =>
      all.add(object).add(`${object}/${state}`);
    for (const key of this.#slots.keys()) add(...placeIn(key));
    using programs = this.#root.open([PROGRAMS]);
    for (const name of programs?.list() ?? []) {
      if (name === this.#name || !isObjectName(name)) continue;
      using file = unlessForeign(() => programs!.openFile(name, "write"));
      if (file === undefined) continue;
      if (file.tryLock(true)) {
        programs!.remove(name);
        continue;
      }
      for (const key of keysIn(file)) add(...placeIn(key));
    }
    return all;
  }

  #make(): EntryFile {
    using programs = this.#root.make([PROGRAMS]);
    this.#name = crypto.randomUUID().replaceAll("-", "");
    const file = programs.makeFile(this.#name);
    file.tryLock(true);
    return file;
  }

  #end(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#free.length = 0;
    try {
      using programs = this.#root.open([PROGRAMS]);
      programs?.remove(this.#name);
    } catch {
      // Its lock is free, so the next program that makes space deletes it.
    }
  }
}

/** Reads the entries in a file of another program. Removed ones are zeros. */
function* keysIn(file: EntryFile): Generator<string> {
  const size = Math.min(file.facts().size, MOST * PLACE);
  const bytes = Buffer.alloc(Math.min(size, AT_ONCE * PLACE));
  for (let start = 0; start < size;) {
    const got = file.read(bytes, start);
    if (got < PLACE) return;
    for (let at = 0; at + PLACE <= got; at += PLACE) {
      const place = bytes.subarray(at, at + PLACE);
      if (!place.equals(NO_PLACE)) yield place.toString("hex");
    }
    start += got - got % PLACE;
  }
}

const OF_CACHES = new Map<string, PlacesInUse>();

function placeIn(key: string): ObjectPlace {
  return [key.slice(0, PLACE), key.slice(PLACE)];
}
