import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import { readSlices } from "../../src/io/read/read_slices.ts";
import { runAsync } from "../../src/io/concurrency/steps.ts";

const SAMPLE = 100_000;

/** Storage with a latency of 1 ms and unlimited concurrent requests. */
class SlowSource implements ByteSource {
  readonly name = "slow storage";
  readonly mtime = 0;
  readonly size: number;
  /** Most requests in flight at once. */
  most = 0;
  #underWay = 0;

  constructor(size: number) {
    this.size = size;
  }

  async readAt(into: Uint8Array): Promise<number> {
    this.most = Math.max(this.most, ++this.#underWay);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#underWay--;
    return into.length;
  }

  close(): void {}
}

/** Returns how many requests a batch of samples has in flight at once. */
export async function requestsUnderWay(batch: number): Promise<number> {
  const source = new SlowSource(2 * batch * SAMPLE);
  const slices = Array.from(
    { length: batch },
    (_, i) => ({ source: 0, offset: 2 * i * SAMPLE, length: SAMPLE }),
  );
  await runAsync(readSlices([source], slices));
  return source.most;
}
