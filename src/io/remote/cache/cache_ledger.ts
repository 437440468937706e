import type { EntryFile } from "../../dirfd/entries.ts";
import type { TrustedDirectory } from "../../dirfd/trusted_directory.ts";
import type { CacheRoot } from "./cache_root.ts";
import { DamagedTable, LedgerTable } from "./ledger_table.ts";
import { PooledFile } from "./pooled_file.ts";

const LEDGER = "ledger";
export const OBJECTS = "objects";
/** Timeout for the lock in milliseconds. Another program holds it much shorter, unless it is stopped. */
const PATIENCE = 5000;
const PAUSE = 1;

/** Names of objects and of their states: hashes. */
const NAME = /^[0-9a-f]{32}$/;

/** Whether a name may be that of an object, or of one of its states. */
export function isObjectName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Ledger of a cache: its objects and their sizes, for all programs that use the cache. Making space uses it instead of
 * walking the cache. Its contents are checked against the disk before anything is deleted. A missing or damaged one is
 * rebuilt, with the names in the directory of objects once they matter.
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
   * Returns `undefined` if another program holds the ledger for too long.
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

  /** Reopens the file that the cache directory has now. */
  reopen(directory: TrustedDirectory): void {
    this.#file.close();
    this.#file.begin(directory.makeFile(LEDGER));
  }

  /** Closes the file. The next use opens the one of that name then. */
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
