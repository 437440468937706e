/** Runs the command line interface as its users do: as a process. */
import assert from "node:assert/strict";
import { REPOSITORY } from "../support/paths.ts";

/** Path of the program. */
export const CLI = `${REPOSITORY}cli.ts`;

/** How a process ended, and what it wrote. */
export interface Ran {
  readonly code: number;
  readonly bytes: Uint8Array;
  readonly stdout: string;
  readonly stderr: string;
}

/** Surroundings of a process. */
export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Flags of `deno run`. */
  readonly permissions?: readonly string[];
}

/** Runs `recordfs` with these arguments, without a terminal. */
export function recordfs(
  args: readonly string[],
  { permissions = ["-A"], ...options }: RunOptions = {},
): Promise<Ran> {
  return run(
    [Deno.execPath(), "run", "--no-prompt", ...permissions, CLI, ...args],
    options,
  );
}

/** Runs any program. */
export async function run(
  [command, ...args]: readonly string[],
  options: Omit<RunOptions, "permissions"> = {},
): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(command!, {
    args,
    stdin: "null",
    ...options,
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return {
    code,
    bytes: stdout,
    stdout: text(stdout),
    stderr: text(stderr),
  };
}

/** Runs `recordfs`, which must succeed and report nothing. */
export async function succeed(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const ran = await recordfs(args, options);
  assert.deepEqual([ran.stderr, ran.code], ["", 0]);
  return ran;
}

/** Asserts that a process failed with one line of explanation, and without a stack trace. */
export function assertFailed(ran: Ran, code: number, words: RegExp): void {
  assert.match(ran.stderr, words);
  assert.match(ran.stderr, /^recordfs: [^\n]+\n$/);
  assert.doesNotMatch(ran.stderr, /\bat .*:\d+:\d+/);
  assert.equal(ran.code, code);
}
