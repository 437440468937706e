import { RecordfsError } from "../../base/errors.ts";
import { systemCode } from "../../io/libc/system_error.ts";
import { flagMessageOf } from "../flag_words.ts";
import { output, print } from "./output.ts";

const USAGE = "usage";

/** Converts an error to JSON: a code for programs, a message for people, and facts. */
export function describeError(error: RecordfsError): Record<string, unknown> {
  const { code, path, member, sample, ...facts } = error;
  const { offset, expected, actual } = facts;
  return {
    ...{ code, message: flagMessageOf(error), path, member, sample },
    ...{ offset, expected, actual },
  };
}

function asksForJson(line: readonly string[]): boolean {
  const end = line.indexOf("--");
  return line.slice(0, end < 0 ? undefined : end).includes("--json");
}

/** Prints an error as `{"error": {...}}` if the line asks for JSON and nothing has been printed yet. */
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
    // `records` prints JSON lines, so its error is one line.
    print(
      { error: { ...described, message } },
      line[0] === "records" ? 0 : undefined,
    );
  } catch {
    // Standard output is closed.
  }
}
