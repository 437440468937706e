import { decodeName } from "../names.ts";
import { utf8Text } from "../utf8.ts";

/** What Deno puts in place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/**
 * The arguments with bytes that are not UTF-8 as lone surrogates, as the API has them, so that files
 * with such names can be asked for. Deno replaces those bytes; the kernel still has them.
 */
export function exactArguments(args: readonly string[]): readonly string[] {
  if (!args.some((arg) => arg.includes(REPLACEMENT))) return args;
  let commandLine: Uint8Array;
  try {
    commandLine = Deno.readFileSync("/proc/self/cmdline");
  } catch {
    return args; // not Linux, or not permitted: names that are UTF-8 work all the same
  }
  const { Buffer } = process.getBuiltinModule("node:buffer");
  const list = Buffer.from(commandLine).toString("latin1").split("\0"); // a NUL ends each
  const exact = list.slice(-args.length - 1, -1)
    .map((text) => Buffer.from(text, "latin1"));
  const same = exact.every((arg, i) => utf8Text(arg) === args[i]);
  return same ? exact.map((arg) => decodeName(arg)) : args;
}
