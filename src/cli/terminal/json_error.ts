import { RecordfsError } from "../../base/errors.ts";
import { systemCode } from "../../io/libc/system_error.ts";
import { inFlags } from "../flag_words.ts";
import { output, print } from "./output.ts";

/** Code of an error of the command line. */
const USAGE = "usage";

/** An error as `--json` has it: a code for programs, a message for people, and what it is about. */
export function describeError(error: RecordfsError): Record<string, unknown> {
  const { code, message, path, member, sample, ...facts } = error;
  const { offset, expected, actual } = facts;
  return {
    ...{ code, message: inFlags(message), path, member, sample },
    ...{ offset, expected, actual },
  };
}

/** Whether a command line asks for JSON. */
function asksForJson(line: readonly string[]): boolean {
  const end = line.indexOf("--");
  return line.slice(0, end < 0 ? undefined : end).includes("--json");
}

/**
 * Prints an error as `{"error": {...}}`, if the line asks for JSON and nothing has been printed: then the message is on
 * standard error alone.
 *
 * @param message As it is reported.
 */
export function printError(
  line: readonly string[],
  message: string,
  error?: unknown,
): void {
  if (output.isBegun || !asksForJson(line)) return;
  const described = error instanceof RecordfsError
    ? describeError(error)
    : { code: error === undefined ? USAGE : systemCode(error) ?? "internal" };
  try {
    // Of `records`, which prints lines, it is one.
    print(
      { error: { ...described, message: inFlags(message) } },
      line[0] === "records" ? 0 : undefined,
    );
  } catch {
    // There is no standard output.
  }
}
