/** A slow storage: no synchronous access, and responses in random order. */
import { setImmediate, setTimeout } from "node:timers/promises";
import { Sfc32 } from "../../src/data/random/random.ts";
import {
  perform,
  runAsync,
  type Steps,
} from "../../src/io/concurrency/steps.ts";
import type {
  ByteSource,
  WaitOptions,
} from "../../src/io/storage/byte_source.ts";
import { mustWait } from "../../src/io/storage/must_wait.ts";
import { LOCAL_DISK, type Storage } from "../../src/io/storage/storage.ts";

/** One in this many waits takes milliseconds. The others take turns of the event loop. */
const LONG_WAIT = 32;
const MOST_MS = 2;
const MOST_TURNS = 3;

/**
 * Wraps a storage so that each response arrives after a short random wait, and concurrent responses in random order.
 * Synchronous access throws `mustWait`.
 *
 * @param seed Seed of the waits.
 * @param inner The storage that has the files.
 */
export function slowStorage(
  seed: number,
  inner: Storage = LOCAL_DISK,
): Storage {
  const random = new Sfc32(seed, 0x510e527f, 0x9b05688c);
  const wait = () => waitAtRandom(random);
  function* later<T>(path: string, steps: () => Steps<T>): Steps<T> {
    return yield* perform({
      sync(): T {
        throw mustWait(path);
      },
      async async(signal) {
        await wait();
        signal?.throwIfAborted();
        return await runAsync(steps(), signal);
      },
    });
  }
  return {
    *open(path, options) {
      const source = yield* later(path, () => inner.open(path, options));
      return new SlowSource(source, wait);
    },
    list: (path) => later(path, () => inner.list(path)),
    stat: (path) => later(path, () => inner.stat(path)),
  };
}

class SlowSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly #inner: ByteSource;
  readonly #wait: () => Promise<void>;

  constructor(inner: ByteSource, wait: () => Promise<void>) {
    this.name = inner.name;
    this.size = inner.size;
    this.mtime = inner.mtime;
    this.#inner = inner;
    this.#wait = wait;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    into.fill(0xa5); // exposes code that uses the memory before the read is complete
    await this.#wait();
    options.signal?.throwIfAborted();
    return await this.#inner.readAt(into, offset, options);
  }

  close(): void {
    this.#inner.close();
  }
}

async function waitAtRandom(random: Sfc32): Promise<void> {
  if (random.next() % LONG_WAIT === 0) {
    await setTimeout(random.next() % (MOST_MS + 1));
  }
  const turns = random.next() % MOST_TURNS;
  for (let turn = 0; turn <= turns; turn++) await setImmediate();
}
