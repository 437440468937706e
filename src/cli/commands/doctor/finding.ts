import { RecordfsError } from "../../../base/errors.ts";
import { systemCode } from "../../../io/libc/system_error.ts";
import { flagMessageOf } from "../../flag_words.ts";
import { systemMessage } from "../../system_message.ts";

export interface Finding {
  /** Name of the checked thing, such as `fusermount3`. */
  readonly what: string;
  /** `fails`: commands will fail. `limited`: some commands lack a feature, or are slower. */
  readonly state: "works" | "limited" | "fails";
  /** Description of the result. Must not contain secrets. */
  readonly says: string;
  readonly remedy?: string | undefined;
}

export function works(what: string, says: string): Finding {
  return { what, state: "works", says };
}

export function limited(what: string, says: string, remedy: string): Finding {
  return { what, state: "limited", says, remedy };
}

export function fails(what: string, says: string, remedy: string): Finding {
  return { what, state: "fails", says, remedy };
}

/** Finding for a failed attempt. Messages state the problem first, then hints as further sentences. */
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
    ? flagMessageOf(error)
    : String(error);
  const [says, ...hints] = message.split(/\. (?=[A-Z])/);
  return fails(what, says!, hints.join(". ") || otherwise);
}

/** Text of a system file, or an empty string if it cannot be read. */
export function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
