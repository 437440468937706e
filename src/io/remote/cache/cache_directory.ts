import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { FileLock } from "../../write/file_lock.ts";
import type { CacheOptions } from "../remote_options.ts";
import type { ListedFile } from "../listed_file.ts";
import type { ObjectState } from "../remote_object.ts";
import { variable } from "../../../environment.ts";
import { BLOCK } from "./block_store.ts";
import { ObjectCounter } from "./object_counts.ts";

/** What a cached object is, as its directory has it. */
export interface CachedFacts extends ObjectState {
  /** Its URL, without secrets. */
  readonly url: string;
}

/** What a file of facts has beside them. */
interface WrittenFacts extends CachedFacts {
  /** Bytes of a block: what other versions kept in other blocks is left alone. */
  readonly block: number;
  /** The start of the machine when it was made. */
  readonly start: string;
}

/** Part of the room that is free but for the cache which it takes, unless it is said how much. */
const SHARE = 5;
/** Of the disk's room, what is left for others. */
const SPARE = 64 << 20;
/** Bytes after which it is looked anew how large the cache is: others write to it as well. */
const LOOK_EVERY = 256 << 20;
/** Of the cache, what is made room at a time. */
const PIECE = 16;

/** Caches that somebody was told of: a program opens one several times. */
const TOLD = new WeakMap<(message: string) => void, Set<string>>();

/**
 * Objects of servers on the disk, of which any number of processes keep blocks. It deletes only what it made itself:
 * directories below `objects`, named by hashes, with a `facts.json`.
 */
export class CacheDirectory {
  readonly path: string;
  readonly #size: number | undefined;
  readonly #onWarning: (message: string) => void;
  /** What is missing for it to be used. */
  readonly #missing: string | undefined;
  #limit = 0;
  #used = 0;
  #sinceLook = Infinity;
  #isDiskFull = false;

  constructor(
    { directory, size }: CacheOptions,
    onWarning: (message: string) => void,
  ) {
    this.path = directory ?? defaultDirectory();
    this.#missing = missingFor(this.path);
    this.#size = size;
    this.#onWarning = onWarning;
  }

  /**
   * What is known of an object's last state, if any of it is kept.
   *
   * @param identity Tells it from all others; it is not written anywhere.
   */
  lastState(identity: string): CachedFacts | undefined {
    if (this.#missing !== undefined) return undefined;
    const parent = this.#parent(identity);
    let last: CachedFacts | undefined;
    let time = -Infinity;
    for (const name of namesIn(parent)) {
      const facts = factsIn(`${parent}/${name}`);
      if (facts === undefined) continue;
      const { mtimeMs } = fs.statSync(`${parent}/${name}/facts.json`);
      if (mtimeMs > time) [last, time] = [facts, mtimeMs];
    }
    return last;
  }

  /** What a directory held when it was last listed. */
  lastList(identity: string): readonly ListedFile[] | undefined {
    if (this.#missing !== undefined) return undefined;
    try {
      return JSON.parse(fs.readFileSync(this.#listOf(identity), "utf8"));
    } catch {
      return undefined;
    }
  }

  /** Keeps what a directory holds, for those who go on with it while its server is away. */
  keepList(identity: string, list: readonly ListedFile[]): void {
    if (this.#missing !== undefined) return;
    try {
      fs.mkdirSync(`${this.path}/lists`, { recursive: true, mode: 0o700 });
      writeWhole(this.#listOf(identity), JSON.stringify(list));
    } catch (error) {
      this.warn(error);
    }
  }

  /**
   * Opens an object for its blocks to be kept; `undefined` where that can't be done, which is said once.
   */
  open(identity: string, facts: CachedFacts): CachedObject | undefined {
    const path = `${this.#parent(identity)}/${hash(facts.tag)}`;
    let lock: FileLock | undefined;
    try {
      if (this.#missing !== undefined) throw new Error(this.#missing);
      fs.mkdirSync(path, { recursive: true, mode: 0o700 });
      for (const name of ["data", "sums", "lock"]) {
        fs.closeSync(fs.openSync(`${path}/${name}`, "a", 0o600));
      }
      lock = FileLock.tryShare(`${path}/lock`);
      if (lock === undefined) return undefined; // it is just being deleted
      if (fs.statSync(`${path}/data`).size !== facts.size) {
        fs.truncateSync(`${path}/data`, facts.size); // sparse
      }
      if (factsIn(path) === undefined) {
        const start = startOfMachine();
        const written: WrittenFacts = { ...facts, block: BLOCK, start };
        writeWhole(`${path}/facts.json`, JSON.stringify(written));
      }
      const now = new Date();
      fs.utimesSync(`${path}/facts.json`, now, now); // what was used last goes last
      return new CachedObject(this, path, facts.size, lock);
    } catch (error) {
      lock?.[Symbol.dispose]();
      this.warn(error);
      return undefined;
    }
  }

  /**
   * Takes room for bytes that are added; makes some by what nobody uses.
   *
   * @returns How many may be added: all, or fewer whole blocks.
   */
  takeRoom(bytes: number): number {
    if (this.#sinceLook + bytes > LOOK_EVERY) this.#look();
    if (this.#used + bytes > this.#limit) {
      const wanted = Math.max(bytes, Math.floor(this.#limit / PIECE));
      this.#used -= this.#evict(this.#used + wanted - this.#limit);
    }
    const left = Math.max(0, this.#limit - this.#used);
    const taken = bytes <= left ? bytes : left - left % BLOCK;
    this.#used += taken;
    this.#sinceLook += taken;
    if (taken < bytes && this.#isDiskFull) {
      this.warn(new Error("its disk has no room left"));
    }
    return taken;
  }

  /** Says once, to each who is to be told, that the cache does not work, which makes reading slower and nothing else. */
  warn(error: unknown): void {
    let told = TOLD.get(this.#onWarning);
    if (told === undefined) TOLD.set(this.#onWarning, told = new Set());
    if (told.has(this.path)) return;
    told.add(this.path);
    const why = error instanceof Error ? error.message : String(error);
    this.#onWarning(
      `The cache ${this.path} can't be used (${why}): everything is fetched again when it is read again; ` +
        "choose another with --cache-dir (option cache.directory)",
    );
  }

  #look(): void {
    this.#sinceLook = 0;
    this.#used = this.objects().reduce((sum, { bytes }) => sum + bytes, 0);
    const { bavail, bsize } = fs.statfsSync(this.path);
    const free = Math.max(0, bavail * bsize - SPARE);
    // What it has counts as free: it would grow with every look otherwise.
    const share = Math.floor((this.#used + free) / SHARE);
    this.#limit = Math.min(this.#size ?? share, this.#used + free);
    this.#isDiskFull = free === 0;
  }

  /** Deletes objects that no process has open, those that were used last at the end, until so much is free. */
  #evict(bytes: number): number {
    let freed = 0;
    const oldest = this.objects().sort((a, b) => a.used - b.used);
    for (const object of oldest) {
      if (freed >= bytes) break;
      if (this.remove(object.path)) freed += object.bytes;
    }
    return freed;
  }

  /** All objects there are. */
  objects(): CachedEntry[] {
    const root = `${this.path}/objects`;
    return namesIn(root).flatMap((parent) =>
      namesIn(`${root}/${parent}`).flatMap((name) => {
        const path = `${root}/${parent}/${name}`;
        const facts = factsIn(path);
        if (facts === undefined) return [];
        const { blocks } = fs.statSync(`${path}/data`);
        const { mtimeMs } = fs.statSync(`${path}/facts.json`);
        return [{ path, facts, bytes: blocks * 512, used: mtimeMs }];
      })
    );
  }

  /** Opens an object that there is; `undefined` where it is just being deleted. */
  reopen({ path, facts }: CachedEntry): CachedObject | undefined {
    const lock = FileLock.tryShare(`${path}/lock`);
    return lock && new CachedObject(this, path, facts.size, lock);
  }

  /** Deletes an object, unless a process has it open. */
  remove(path: string): boolean {
    using lock = FileLock.tryTake(`${path}/lock`);
    if (lock === undefined) return false;
    // The facts first: without, it is no object any more.
    for (const name of ["facts.json", "sums", "data", "counts", "lock"]) {
      fs.rmSync(`${path}/${name}`, { force: true });
    }
    for (const name of namesIn(path)) { // of who was killed
      if (/^facts\.json\.[0-9a-f-]{36}\.tmp$/.test(name)) {
        fs.rmSync(`${path}/${name}`, { force: true });
      }
    }
    try {
      fs.rmdirSync(path);
    } catch {
      // Something else lies there.
    }
    return true;
  }

  /** Deletes what directories held. */
  removeLists(): void {
    for (const name of namesIn(`${this.path}/lists`)) {
      if (!/^[0-9a-f]{32}\.json/.test(name)) continue; // it is not its own
      fs.rmSync(`${this.path}/lists/${name}`, { force: true });
    }
  }

  #listOf(identity: string): string {
    return `${this.path}/lists/${hash(identity)}.json`;
  }

  #parent(identity: string): string {
    return `${this.path}/objects/${hash(`${BLOCK} ${identity}`)}`;
  }
}

/** An object in the cache. */
export interface CachedEntry {
  readonly path: string;
  readonly facts: CachedFacts;
  /** Bytes that it takes on the disk. */
  readonly bytes: number;
  /** When it was opened last, in milliseconds since 1970. */
  readonly used: number;
}

/** An object that is open: nobody deletes it meanwhile. */
export class CachedObject {
  readonly path: string;
  readonly size: number;
  /** What this process does with it. */
  readonly counts: ObjectCounter;
  /** Whether all that is there was written since the machine was started. */
  readonly isOfThisStart: boolean;
  readonly #directory: CacheDirectory;
  readonly #lock: FileLock;

  constructor(
    directory: CacheDirectory,
    path: string,
    size: number,
    lock: FileLock,
  ) {
    this.#directory = directory;
    this.path = path;
    this.size = size;
    this.#lock = lock;
    this.counts = new ObjectCounter(path);
    this.isOfThisStart = factsIn(path)?.start === startOfMachine();
  }

  /** {@linkcode CacheDirectory.takeRoom}; none where the cache does not work. */
  takeRoom(bytes: number): number {
    try {
      return this.#directory.takeRoom(bytes);
    } catch (error) {
      this.failed(error);
      return 0;
    }
  }

  /** Says that its files can't be written. */
  failed(error: unknown): void {
    this.#directory.warn(error);
  }

  close(): void {
    this.counts.close();
    this.#lock[Symbol.dispose]();
  }
}

/** Empty where it is not known. */
function defaultDirectory(): string {
  const home = variable("HOME");
  const base = variable("XDG_CACHE_HOME") ?? (home && `${home}/.cache`);
  return base === undefined ? "" : `${base}/recordfs`;
}

/** Why Deno would ask before the cache is used, or refuse it. */
function missingFor(path: string): string | undefined {
  if (path === "") return "HOME is not set, or needs --allow-env";
  const missing = (["read", "write"] as const).find((name) =>
    Deno.permissions.querySync({ name, path }).state !== "granted"
  );
  return missing && `it needs --allow-${missing}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function namesIn(path: string): string[] {
  try {
    return fs.readdirSync(path);
  } catch {
    return [];
  }
}

function factsIn(path: string): WrittenFacts | undefined {
  try {
    const facts = JSON.parse(fs.readFileSync(`${path}/facts.json`, "utf8"));
    const isWhole = typeof facts.url === "string" &&
      typeof facts.tag === "string" && Number.isSafeInteger(facts.size) &&
      typeof facts.mtime === "number" && facts.block === BLOCK;
    return isWhole ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file that is never seen in part. */
function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    fs.writeFileSync(temporary, text, { mode: 0o600 });
    fs.renameSync(temporary, path);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

let start: string | undefined;

/** Tells one start of the machine from another. */
function startOfMachine(): string {
  if (start === undefined) {
    try {
      start = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    } catch {
      start = randomUUID(); // nothing is sure then
    }
  }
  return start;
}
