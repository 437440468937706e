import type { EntryFile } from "../../directories/entries.ts";
import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import type { CacheRoot } from "./cache_root.ts";
import { DamagedTable, LedgerTable } from "./ledger_table.ts";
import { PooledFile } from "./pooled_file.ts";

/** Name of the file, in the cache's directory. */
const LEDGER = "ledger";
/** Directory of all objects. */
export const OBJECTS = "objects";
/** How long another program may hold the ledger, in milliseconds: it takes far less, unless it is stopped. */
const PATIENCE = 5000;
/** Pause between attempts, in milliseconds. */
const PAUSE = 1;

/** Names of objects and of their states: hashes. */
const NAME = /^[0-9a-f]{32}$/;

/** Whether a name may be that of an object, or of one of its states. */
export function isObjectName(name: string): boolean {
  return NAME.test(name);
}

/**
 * The ledger of a cache: which objects there are and how many bytes they take, for all programs that use the cache.
 * Making room looks there, and not through the cache. Whatever it says is checked against the disk before anything is
 * deleted. One that is missing or damaged is begun anew, with the names in the directory of objects once these matter.
 */
export class CacheLedger {
  readonly #root: CacheRoot;
  readonly #file: PooledFile;

  constructor(root: CacheRoot) {
    this.#root = root;
    this.#file = new PooledFile(`${root.path}/${LEDGER}`, () => {
      using directory = root.make([]);
      return directory.makeFile(LEDGER);
    });
  }

  /**
   * Runs a call while no other program or thread changes the ledger. The call must not use the ledger otherwise.
   *
   * @returns What it returns; `undefined` if another program holds the ledger for too long.
   */
  use<T>(call: (table: LedgerTable) => T): T | undefined {
    return this.#file.use((file) => {
      if (!isLocked(file)) return undefined;
      try {
        return this.#run(file, call);
      } finally {
        file.unlock();
      }
    });
  }

  /** Begins anew with the file that the cache's directory has by now. */
  reopen(directory: TrustedDirectory): void {
    this.#file.close();
    this.#file.begin(directory.makeFile(LEDGER));
  }

  /** Closes the file; the next use opens the one that has its name then. */
  close(): void {
    this.#file.close();
  }

  #run<T>(file: EntryFile, call: (table: LedgerTable) => T): T {
    const list = () => this.#list();
    const table = LedgerTable.read(file, list);
    try {
      const result = call(table);
      table.save();
      return result;
    } catch (error) {
      if (!(error instanceof DamagedTable)) throw error;
      const made = LedgerTable.begin(file, list);
      const result = call(made);
      made.save();
      return result;
    }
  }

  #list(): readonly string[] {
    using objects = this.#root.open([OBJECTS]);
    return objects?.list().filter(isObjectName) ?? [];
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

function isLocked(file: EntryFile): boolean {
  for (let waited = 0; !file.tryLock(true); waited += PAUSE) {
    if (waited >= PATIENCE) return false;
    Atomics.wait(NEVER, 0, 0, PAUSE);
  }
  return true;
}
