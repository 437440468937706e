import { flagMessageOf } from "./flag_words.ts";

export const ExitCode = {
  DONE: 0,
  FAILED: 1,
  USAGE: 2,
  /** Exit code that a shell reports for a program ended by SIGPIPE: output to a closed pipe. */
  CLOSED_PIPE: 141,
} as const;

/** Exit codes of the command itself, with their meanings for help texts. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] =
  [
    [ExitCode.DONE, "done"],
    [ExitCode.FAILED, "failed"],
    [ExitCode.USAGE, "the command line is wrong"],
  ];

/** Ends the command with an exit code. Everything has already been reported. */
export class Exit extends Error {
  override name = "Exit";
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** The command line itself is wrong. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Parses a part of the command line. Converts errors of class `Wrong` to usage errors. */
export function asUsage<T>(
  Wrong: abstract new (...args: never[]) => Error,
  read: () => T,
): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Wrong ? new UsageError(flagMessageOf(error)) : error;
  }
}
