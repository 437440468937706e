import { memory } from "../support/memory.ts";
import { runJson } from "../support/run.ts";

/** What `reader.c` tells of one pass over all files. */
export interface Pass {
  readonly seconds: number;
  readonly bytes: number;
  readonly filesPerSecond: number;
  readonly megabytesPerSecond: number;
}

/**
 * Runs `reader.c`.
 *
 * @param bytes What every pass must deliver.
 * @throws {Error} If a pass delivered anything else.
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
 * How many MiB the reader uses first, see `reader.c`: as many as the mount's page cache will.
 *
 * @param bytes What is read.
 * @param onTooSmall Is called where memory can't hold that twice; the answer is 0 then.
 */
export async function memoryToTouch(
  bytes: number,
  onTooSmall: () => void,
): Promise<number> {
  const needed = Math.ceil(bytes * 1.25);
  const free = await memory("MemAvailable") - bytes; // the archive stays cached
  if (free > needed * 1.25) return Math.ceil(needed / 2 ** 20);
  onTooSmall();
  return 0;
}
