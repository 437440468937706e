import { variable } from "../base/environment.ts";
import { RecordfsError } from "../base/errors.ts";
import { messageOf } from "../base/message_text.ts";
import { systemCode } from "../io/libc/system_error.ts";
import { raiseOpenFilesLimit } from "../io/storage/descriptor_budget.ts";
import { Exit, ExitCode, UsageError } from "./exit.ts";
import { flagMessageOf, ownFlagsOf } from "./flag_words.ts";
import { endFloods, report } from "./messages.ts";
import { permissionMessage } from "./permissions.ts";
import { mount } from "./mount/start_mount.ts";
import { plainMount } from "./mount/job/plain_mount.ts";
import { printError } from "./terminal/json_error.ts";
import { output } from "./terminal/output.ts";
import { systemMessage } from "./system_message.ts";
import { decodeName } from "../base/names.ts";
import { utf8Text } from "../base/utf8.ts";

/** Runs a command line, and reports errors. Returns the exit code. */
export async function main(given: readonly string[]): Promise<number> {
  const args = exactArguments(given);
  output.isBegun = false;
  try {
    const plain = plainMount(args);
    if (plain !== undefined) {
      raiseOpenFilesLimit();
      await mount(plain.sources, plain.mountpoint, plain.options);
    } else {
      const { runProgram } = await import("./program.ts");
      await runProgram(args);
    }
    endFloods();
    return ExitCode.DONE;
  } catch (error) {
    endFloods();
    return exitCodeOf(error, args);
  }
}

function exitCodeOf(error: unknown, args: readonly string[]): number {
  if (error instanceof Exit) return error.code;
  if (error instanceof Deno.errors.BrokenPipe) return ExitCode.CLOSED_PIPE;
  const isUsage = error instanceof UsageError;
  const message = shownMessage(error, args);
  report(message);
  printError(args, message, isUsage ? undefined : error);
  if (isUsage) return ExitCode.USAGE;
  showStack(error);
  return ExitCode.FAILED;
}

function shownMessage(error: unknown, args: readonly string[]): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof Deno.errors.NotCapable) {
    return permissionMessage(error, args);
  }
  if (error instanceof RecordfsError) {
    return flagMessageOf(error, ownFlagsOf(args[0] ?? ""));
  }
  if (systemCode(error) !== undefined) return systemMessage(error as Error);
  const text = messageOf(error);
  return `${text} (this should not happen; RECORDFS_DEBUG=1 prints where)`;
}

function showStack(error: unknown): void {
  if (variable("RECORDFS_DEBUG") !== "1") return;
  if (!(error instanceof Error) || error.stack === undefined) return;
  for (const line of error.stack.split("\n")) report(line);
}

/** Deno's replacement for bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/**
 * Restores bytes that are not UTF-8 as lone surrogates, as in the API, so that files with such names can be given. Deno
 * replaces those bytes, but the kernel has the original arguments.
 */
function exactArguments(args: readonly string[]): readonly string[] {
  if (!args.some((arg) => arg.includes(REPLACEMENT))) return args;
  let commandLine: Uint8Array;
  try {
    commandLine = Deno.readFileSync("/proc/self/cmdline");
  } catch {
    return args; // not Linux, or not permitted: UTF-8 names still work
  }
  const { Buffer } = process.getBuiltinModule("node:buffer");
  const list = Buffer.from(commandLine).toString("latin1").split("\0"); // a NUL ends each
  const exact = list.slice(-args.length - 1, -1)
    .map((text) => Buffer.from(text, "latin1"));
  const same = exact.every((arg, i) => utf8Text(arg) === args[i]);
  return same ? exact.map((arg) => decodeName(arg)) : args;
}
