import type { Steps } from "../concurrency/steps.ts";
import { Turns } from "../concurrency/turns.ts";
import { LruCache } from "./lru_cache.ts";

/** LRU cache of what is loaded once, however many callers wait for it. */
export class LoadingCache<T, Key = number> {
  readonly #kept: LruCache<T, Key>;
  readonly #turns = new Turns<Key>();

  /** @param most Maximum weight of what is cached, such as bytes. */
  constructor(most: number) {
    this.#kept = new LruCache(most);
  }

  /** Returns what is cached. */
  kept(key: Key): T | undefined {
    return this.#kept.get(key);
  }

  /** Returns what is cached, or loads it. `load` returns it with its weight. */
  load(
    key: Key,
    load: () => Steps<readonly [value: T, weight: number]>,
  ): Steps<T> {
    const kept = this.#kept;
    return this.#turns.run(key, () => kept.get(key), function* () {
      const [value, weight] = yield* load();
      kept.set(key, value, weight);
      return value;
    });
  }
}
