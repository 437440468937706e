/** Runs the command line interface: in this process, or as its users do, in one of its own. */
import assert from "node:assert/strict";
import { main } from "../../src/cli/main.ts";
import { Captured } from "../support/programs/captured.ts";
import { REPOSITORY } from "../support/paths.ts";
import { inNamespace } from "./mount/own_run.ts";

/** Path of the program. */
export const CLI = `${REPOSITORY}cli.ts`;

/** Runs command lines in turns. */
const SESSION = `${REPOSITORY}test/support/programs/session_cli.ts`;

/** Flags that `bin/recordfs` has. */
const AS_INSTALLED = ["-A", "--unstable-lazy-dynamic-imports"];

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
  /** Flags of `deno run`; those of `bin/recordfs` unless given. */
  readonly permissions?: readonly string[];
}

/** The commands that leave nothing behind in the process that they ran in. */
const HERE: ReadonlySet<string | undefined> = new Set([
  ...["ls", "tree", "cat", "stat", "info", "records", "check", "extract"],
  ...["pack", "write", "convert", "bag", "split", "completions", "gulp"],
  "bench-loader",
  ...["--help", "--version", undefined],
]);

/** The variables that it reads itself; others are for Deno and the system, and take a process. */
const OWN_VARIABLE = /^(XDG_RUNTIME_DIR|RECORDFS_\w+)$/;

/**
 * Runs `recordfs` with these arguments, without a terminal.
 *
 * Most commands run in this process, which takes a tenth of the time, and does the same: `run_cli_test.ts`
 * compares. Those about mounts run in one of their own, since a mount without a server holds who looks at it, and
 * who is held keeps it in use; so do those in another directory or with fewer permissions.
 * {@linkcode recordfsProcess} runs any as a process.
 */
export function recordfs(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const { env = {}, ...others } = options;
  const canBeHere = HERE.has(args[0]) && Object.keys(others).length === 0 &&
    Object.keys(env).every((name) => OWN_VARIABLE.test(name));
  return canBeHere ? recordfsHere(args, env) : recordfsProcess(args, options);
}

/**
 * Runs `body` with one process that runs command lines one after the other, in the directory that it changes to for
 * each, without a standard input.
 */
export async function withSession(
  body: (
    recordfs: (args: readonly string[], cwd: string) => Promise<Ran>,
  ) => Promise<void>,
): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", SESSION],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    await body(async (args, cwd) => {
      const line = `${JSON.stringify({ args, cwd })}\n`;
      await input.write(new TextEncoder().encode(line));
      while (!text.includes("\n")) {
        const { value, done } = await output.read();
        assert.ok(!done, `it ended with ${args.join(" ")}`);
        text += value;
      }
      const [first, ...rest] = text.split("\n");
      text = rest.join("\n");
      const { code, stdout, stderr } = JSON.parse(first!);
      const bytes = (base64: string) => Uint8Array.fromBase64(base64);
      return ranTo(code, bytes(stdout), bytes(stderr));
    });
  } finally {
    await input.close();
    await output.cancel();
    assert.equal((await child.status).code, 0);
  }
}

let running: string | undefined;

/** Runs `recordfs` in this process. Only one at a time: its output is that of the whole thread. */
async function recordfsHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  assert.equal(running, undefined, "at the same time only processes can run");
  running = args.join(" ");
  const output = new Captured();
  try {
    const code = await withEnv(env, () => output.during(() => main(args)));
    return ranTo(code, output.bytes.stdout, output.bytes.stderr);
  } finally {
    running = undefined;
  }
}

/** Runs a command line, of any command, in this process: one that is refused before anything is begun. */
export function recordfsRefused(args: readonly string[]): Promise<Ran> {
  return recordfsHere(args, {});
}

/** Has this thread, and no other of the tests' process, see these variables while `body` runs. */
async function withEnv<T>(
  env: Readonly<Record<string, string>>,
  body: () => Promise<T>,
): Promise<T> {
  const { get } = Deno.env;
  Deno.env.get = (name) => env[name] ?? get.call(Deno.env, name);
  try {
    return await body();
  } finally {
    Deno.env.get = get;
  }
}

/** Runs `recordfs` as a process of its own, for tests of what a process does: with signals, memory, others. */
export function recordfsProcess(
  args: readonly string[],
  { permissions = AS_INSTALLED, ...options }: RunOptions = {},
): Promise<Ran> {
  return run(
    [Deno.execPath(), "run", "--no-prompt", ...permissions, CLI, ...args],
    options,
  );
}

/** Runs any program. */
export async function run(
  program: readonly string[],
  options: Omit<RunOptions, "permissions"> = {},
): Promise<Ran> {
  const [command, ...args] = inNamespace(program, options.env);
  const { code, stdout, stderr } = await new Deno.Command(command!, {
    args,
    stdin: "null",
    ...options,
  }).output();
  return ranTo(code, stdout, stderr);
}

/** Runs a script of bash, which would warn of a locale that is not installed. */
export function runBash(
  script: string,
  args: readonly string[] = [],
  options: Omit<RunOptions, "permissions"> = {},
): Promise<Ran> {
  const env = { ...options.env, LC_ALL: "C" };
  return run(["bash", "-c", script, ...args], { ...options, env });
}

function ranTo(code: number, stdout: Uint8Array, stderr: Uint8Array): Ran {
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, bytes: stdout, stdout: text(stdout), stderr: text(stderr) };
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

/** Runs `recordfs` where native codecs may not run, which each thread says that decodes for itself. */
export async function succeedWithSlowCodec(
  args: readonly string[],
  options: RunOptions,
): Promise<Ran> {
  const ran = await recordfs(args, options);
  assert.match(
    ran.stderr,
    /^(recordfs: decoding JPEGs takes six times as long as it could, [^\n]* needs --allow-ffi[^\n]*\n){1,2}$/,
  );
  assert.equal(ran.code, 0);
  return ran;
}

/** Asserts that a process failed with one line of explanation, and without a stack trace. */
export function assertFailed(ran: Ran, code: number, words: RegExp): void {
  assert.match(ran.stderr, words);
  assert.match(ran.stderr, /^recordfs: [^\n]+\n$/);
  assert.doesNotMatch(ran.stderr, /\bat .*:\d+:\d+/);
  assert.equal(ran.code, code);
}
