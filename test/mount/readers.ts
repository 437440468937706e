/** Programs that read a mount continuously. */
import assert from "node:assert/strict";
import { PYTHON } from "../support/programs/programs.ts";
import { THOROUGH } from "./numbers_mount.ts";

/**
 * Pause of a reader between two files, in milliseconds. Leaves most of the processor to the test, while some reader is
 * always waiting for a response. `deno task test:faults` does not pause.
 */
const PAUSE_MS = THOROUGH ? 0 : 4;

const SCRIPT = new URL("python/compare_forever.py", import.meta.url).pathname;

/** Result of one program. */
export interface Findings {
  /** Number of files read. */
  readonly read: number;
  /** The first mismatches and errors. */
  readonly wrong: readonly string[];
}

/**
 * Starts programs that compare every byte of files which contain their own index.
 *
 * @param count Number of files.
 * @param size Size of each in bytes.
 * @param least Minimum number of files that each program reads before it ends, even if it is stopped earlier.
 */
export function startReaders(
  directory: string,
  readers: number,
  count: number,
  size: number,
  least = 1,
): { stop(): Promise<Findings[]> } {
  const started = Array.from(
    { length: readers },
    (_, seed) =>
      new Deno.Command(PYTHON, {
        args: [
          ...[SCRIPT, directory],
          ...[count, size, seed, least, PAUSE_MS].map(String),
        ],
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn(),
  );
  return {
    stop: () =>
      Promise.all(started.map(async (child) => {
        await child.stdin.close();
        const { stdout, stderr, code } = await child.output();
        const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
        assert.equal(code, 0, text(stderr));
        const [read, ...wrong] = text(stdout).trimEnd().split("\n");
        return { read: Number(read), wrong };
      })),
  };
}
