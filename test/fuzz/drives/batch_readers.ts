/** What is done with all readers that read one by one and in batches. */
import { digestOf } from "../digest.ts";
import type { Outcome, Scene } from "../scene.ts";

/** How many are read in a batch. */
export const MOST = 24;

/** A reader of samples by their numbers, or of files by their names. */
interface BatchReader<K> {
  read(key: K): Promise<unknown>;
  read(keys: readonly K[]): Promise<unknown>;
  readSync(key: K): unknown;
  readSync(keys: readonly K[]): unknown;
  close(): void;
}

/** Numbers of samples, of so many. */
export function someIndices({ dice }: Scene, length: number): number[] {
  return Array.from({ length: MOST }, () => dice.int(length));
}

/**
 * Reads some one by one, and all in a batch, waiting and not: all must agree.
 *
 * @param now Was opened without waiting, and reads so.
 * @returns The batch.
 */
export async function readBoth<K>(
  scene: Scene,
  reader: BatchReader<K>,
  now: BatchReader<K>,
  keys: readonly K[],
): Promise<Outcome<unknown>> {
  for (const key of keys.slice(0, 4)) {
    await scene.both(
      "read one",
      () => reader.read(key),
      () => now.readSync(key),
    );
  }
  const batch = await scene.attempt("read", () => reader.read(keys));
  const alone = scene.attemptSync("readSync", () => now.readSync(keys));
  scene.compare(batch, alone, "read", "readSync");
  return batch;
}

/**
 * Reads what was read here by what another thread is given.
 *
 * @param read Opens a reader by that, and is told to read by it.
 * @param what Both share, for the report.
 */
export async function compareShared<R extends Disposable>(
  scene: Scene,
  here: Outcome<unknown>,
  open: () => R | Promise<R>,
  read: (reader: R) => Promise<unknown>,
  what = "shared tables",
): Promise<void> {
  const shared = await scene.attempt("read in another thread", async () => {
    using again = await open();
    return await read(again);
  });
  if (here.ok && shared.ok) {
    scene.expect(digestOf(here.value), shared.value, what);
  }
}

/** Closes what could be opened. */
export function closeAll(
  outcomes: readonly Outcome<{ close(): void }>[],
): void {
  for (const outcome of outcomes) if (outcome.ok) outcome.value.close();
}
