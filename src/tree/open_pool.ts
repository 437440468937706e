/** What an {@linkcode OpenPool} holds. */
export interface Poolable {
  /** When it was used last; set by the pool. */
  used: number;
  /** Number of uses in progress; while there are any, it stays open. */
  users: number;
  close(): void;
}

/** LRU pool of what is opened on demand. Nothing is allocated for what is open. */
export class OpenPool<T extends Poolable> {
  readonly #most: number;
  readonly #entries = new Map<number, T>();
  #time = 0;

  /** @param most Maximum number that is open, unless more are in use at once. */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.touch(entry);
    return entry;
  }

  /** Notes that an entry is used. */
  touch(entry: T): void {
    entry.used = ++this.#time;
  }

  /** Adds what was opened, and evicts what was not used lately. */
  add(key: number, entry: T): void {
    this.#entries.set(key, entry);
    this.touch(entry);
    while (this.#entries.size > this.#most) {
      const oldest = this.#oldest(key);
      if (oldest < 0) return;
      this.drop(oldest);
    }
  }

  drop(key: number): void {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.close();
  }

  /** Drops the entries that match. */
  dropAll(matches: (entry: T) => boolean = () => true): void {
    for (const [key, entry] of [...this.#entries]) {
      if (this.#entries.has(key) && matches(entry)) this.drop(key);
    }
  }

  #oldest(except: number): number {
    let oldest = -1;
    let time = Infinity;
    for (const [key, { used, users }] of this.#entries) {
      if (users > 0 || key === except || used >= time) continue;
      oldest = key;
      time = used;
    }
    return oldest;
  }
}
