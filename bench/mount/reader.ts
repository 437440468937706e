import { memory } from "../support/memory.ts";
import { runJson } from "../support/run.ts";

/** Report of `reader.c` on one pass over all files. */
export interface Pass {
  readonly seconds: number;
  readonly bytes: number;
  readonly filesPerSecond: number;
  readonly megabytesPerSecond: number;
}

/**
 * Runs `reader.c`.
 *
 * @param bytes Bytes that every pass must read.
 * @throws {Error} If a pass read another number of bytes.
 */
export async function readPasses(
  command: readonly string[],
  bytes: number,
): Promise<Pass[]> {
  const { passes } = await runJson<{ passes: Pass[] }>(command);
  for (const pass of passes) {
    if (pass.bytes === bytes) continue;
    throw new Error(
      `${command.join(" ")} read ${pass.bytes} bytes instead of ${bytes}: ` +
        "the server under test leaves bytes out",
    );
  }
  return passes;
}

/**
 * Returns how many MiB the reader touches first, see `reader.c`: as many as the mount's page cache will need.
 *
 * @param bytes Bytes to read.
 * @param onTooSmall Called if memory can't hold twice that many; the result is then 0.
 */
export async function memoryToTouch(
  bytes: number,
  onTooSmall: () => void,
): Promise<number> {
  const needed = Math.ceil(bytes * 1.25);
  const free = await memory("MemAvailable") - bytes; // minus the archive, which stays cached
  if (free > needed * 1.25) return Math.ceil(needed / 2 ** 20);
  onTooSmall();
  return 0;
}
