import { RecordfsError } from "../../../base/errors.ts";
import { NAME_NEEDS_FFI } from "../../../io/dirfd/directory_by_path.ts";
import {
  reasonOf,
  systemCode,
  whatIsWrong,
} from "../../../io/libc/system_error.ts";

/** Entry of a folder that cannot be packed, or is skipped. */
export type PackProblem = PackError["problems"][number];

const LISTED = 20;

/** A folder cannot be packed; nothing was written. */
export class PackError extends RecordfsError {
  /** All entries found by the walk that cannot be packed; empty if packing failed later. */
  readonly problems: readonly {
    /** Path below the folder. */
    readonly path: string;
    /** Reason as a phrase: "it is a symbolic link to nowhere". */
    readonly reason: string;
    /**
     * `broken-link`, `cycle`, `special-file` (a socket, pipe or device), `vanished`, `name-needs-ffi`, `name-too-long`,
     * `output` (the output itself), `temporary` (unfinished output of another writer, also a killed one), or the system's
     * code, such as `EACCES`.
     */
    readonly code: string;
  }[];

  /** Creates an error about the folder or file `path`. */
  constructor(
    code: string,
    message: string,
    facts: { path: string; cause?: unknown; problems?: PackError["problems"] },
  ) {
    super(code, message, facts);
    this.problems = facts.problems ?? [];
  }
}

const REASONS: Record<string, PackProblem["reason"]> = {
  "broken-link": "it is a symbolic link to nowhere",
  "cycle": "it is a link to a folder that it lies in",
  "special-file": "it is a socket, a pipe or a device",
  "vanished": "it vanished while the folder was read",
  "name-needs-ffi": NAME_NEEDS_FFI,
  "name-too-long": "its name is too long to be read again",
  "output": "it is the output itself, and skipped",
  "temporary": "it is unfinished output of another writer, and skipped",
  ENOENT: "there is no such directory",
  ENOTDIR: "it is not a directory",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "its path is too long for Deno itself; with --allow-ffi " +
    "there is no limit on Linux",
};

export function problem(code: string, path: string): PackProblem {
  return { path, reason: REASONS[code] ?? reasonOf(code), code };
}

/** Whether the entry is not content of the folder: skipped, but not an error. */
export function isLeftOut({ code }: PackProblem): boolean {
  return code === "output" || code === "temporary";
}

/** Converts a system error to a problem; rethrows other errors. */
export function refusal(error: unknown, path: string): PackProblem {
  const code = systemCode(error);
  if (code === undefined) throw error;
  return { path, reason: REASONS[code] ?? whatIsWrong(error), code };
}

/** Returns the error that ends packing if problems are not skipped. */
export function problemsError(
  folder: string,
  problems: PackProblem[],
): PackError {
  const count = problems.length;
  const listed = problems.slice(0, LISTED)
    .map(({ path, reason }) => `${path}: ${reason}`);
  if (count > LISTED) listed.push(`and ${count - LISTED} more`);
  return new PackError(
    "problems",
    `Cannot pack ${folder}: ${count} ` +
      `${count === 1 ? "entry" : "entries"} cannot be packed, and nothing ` +
      `was written (${listed.join("; ")})`,
    { path: folder, problems },
  );
}

/** Runs `work`, and attributes the system's errors to a folder. */
export function namingFolder<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RecordfsError) throw error;
    const { code, reason } = refusal(error, folder);
    throw new PackError(code, `Cannot pack ${folder}: ${reason}`, {
      path: folder,
      cause: error,
    });
  }
}
