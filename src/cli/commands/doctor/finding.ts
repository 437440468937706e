import { RecordfsError } from "../../../base/errors.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import { inFlags } from "../../flag_words.ts";
import { systemMessage } from "../../system_message.ts";

/** What was looked at, and how it is. */
export interface Finding {
  /** In a word or two, as `fusermount3`. */
  readonly what: string;
  /** `fails` is what a command will fail for; `limited` is what some will lack, or be slower for. */
  readonly state: "works" | "limited" | "fails";
  /** How it is. No secret may be in it. */
  readonly says: string;
  /** What to do, where it does not work. */
  readonly remedy?: string | undefined;
}

/** Something that is as it should be. */
export function works(what: string, says: string): Finding {
  return { what, state: "works", says };
}

/** Something that some commands will lack. */
export function limited(what: string, says: string, remedy: string): Finding {
  return { what, state: "limited", says, remedy };
}

/** Something that commands will fail for. */
export function fails(what: string, says: string, remedy: string): Finding {
  return { what, state: "fails", says, remedy };
}

/**
 * What was tried and failed. Messages say first what is wrong, and behind semicolons what to do.
 *
 * @param otherwise What to do where the message does not say.
 */
export function failure(
  what: string,
  error: unknown,
  otherwise: string,
): Finding {
  const isOfSystem = error instanceof Error &&
    !(error instanceof RecordfsError) && systemCode(error) !== undefined;
  const message = isOfSystem
    ? systemMessage(error)
    : error instanceof Error
    ? inFlags(error.message)
    : String(error);
  const [says, ...hints] = message.split("; ");
  return fails(what, says!, hints.join("; ") || otherwise);
}

/** The text of a file of the system, or nothing where there is none, or none to be read. */
export function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
