import { decodeName } from "../names.ts";

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
  const exact = split(commandLine).slice(-args.length);
  const same = exact.every((arg, i) => lossy(arg) === args[i]);
  return same ? exact.map((arg) => decodeName(arg)) : args;
}

/** The strings of a list in which a NUL ends each. */
function split(list: Uint8Array): Uint8Array[] {
  const strings: Uint8Array[] = [];
  for (let start = 0; start < list.length;) {
    const end = list.indexOf(0, start);
    const stop = end < 0 ? list.length : end;
    strings.push(Uint8Array.from(list.subarray(start, stop)));
    start = stop + 1;
  }
  return strings;
}

function lossy(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
