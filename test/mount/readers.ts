/** Programs that read a mount all the time. */
import assert from "node:assert/strict";
import { PYTHON } from "../support/programs/programs.ts";
import { THOROUGH } from "./numbers_mount.ts";

/**
 * Milliseconds between two files of a reader: so many that what else happens takes most of the processor, and so
 * few that there is always somebody who waits for an answer. None where a mount is to be as busy as can be.
 */
const PAUSE_MS = THOROUGH ? 0 : 4;

const SCRIPT = new URL("python/compare_forever.py", import.meta.url).pathname;

/** What one of them found. */
export interface Findings {
  /** Files read. */
  readonly read: number;
  /** The first things that were wrong. */
  readonly wrong: readonly string[];
}

/**
 * Starts programs that compare every byte of files which hold their own number.
 *
 * @param count How many files there are.
 * @param size Bytes of each.
 * @param least How many each program reads before it ends, however soon it is told to.
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
