/** Runs the command line: in this process, or like a user in one of its own. */
import assert from "node:assert/strict";
import { main } from "../../src/cli/main.ts";
import { Captured } from "../support/programs/captured.ts";
import { REPOSITORY } from "../support/paths.ts";
import { inNamespace } from "./mount/own_run.ts";

/** Path of the program. */
export const CLI = `${REPOSITORY}cli.ts`;

/** Program that runs command lines one after the other. */
const SESSION = `${REPOSITORY}test/support/programs/session_cli.ts`;

/** Flags of `bin/recordfs`. */
const AS_INSTALLED = ["-A", "--unstable-lazy-dynamic-imports"];

/** Exit code and output of a process. */
export interface Ran {
  readonly code: number;
  readonly bytes: Uint8Array;
  readonly stdout: string;
  readonly stderr: string;
}

/** Environment of a process. */
export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Flags of `deno run`; by default those of `bin/recordfs`. */
  readonly permissions?: readonly string[];
}

/** Commands that can run in this process without lasting effects on it. */
const HERE: ReadonlySet<string | undefined> = new Set([
  ...[
    "ls",
    "tree",
    "cat",
    "stat",
    "info",
    "records",
    "check",
    "extract",
    "index",
  ],
  ...["pack", "write", "convert", "bag", "split", "completions", "gulp"],
  "bench-loader",
  ...["--help", "--version", undefined],
]);

/** Variables that recordfs itself reads. Others affect Deno and the system, and need a process. */
const OWN_VARIABLE = /^(XDG_RUNTIME_DIR|RECORDFS_\w+)$/;

/**
 * Runs `recordfs` with these arguments, without a terminal.
 *
 * Most commands run in this process, which takes a tenth of the time; `run_cli_test.ts` asserts that the result is the
 * same. Commands about mounts run in a process of their own: a mount without a server blocks processes that access it,
 * and a blocked process keeps the mount busy. So do commands with another directory or fewer permissions. {@linkcode
 * recordfsProcess} runs any command as a process.
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
 * Runs `body` with a process that runs command lines one after the other, each in its own directory, without standard
 * input.
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

/** Runs `recordfs` in this process. Only one can run at a time, since it captures the output of the whole thread. */
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

/** Runs an invalid command line of any command in this process: it is rejected before anything is started. */
export function recordfsRefused(args: readonly string[]): Promise<Ran> {
  return recordfsHere(args, {});
}

/** Sets environment variables for this thread only, while `body` runs. */
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

/** Runs `recordfs` as a process of its own, for tests of signals, memory and other processes. */
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

/** Runs a bash script with LC_ALL=C, since bash warns about a missing locale. */
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

/** Runs `recordfs` without permission for native codecs. Each thread that decodes reports this once. */
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

/** Asserts that a process failed with a single line of explanation, and without a stack trace. */
export function assertFailed(ran: Ran, code: number, words: RegExp): void {
  assert.match(ran.stderr, words);
  assert.match(ran.stderr, /^recordfs: [^\n]+\n$/);
  assert.doesNotMatch(ran.stderr, /\bat .*:\d+:\d+/);
  assert.equal(ran.code, code);
}
