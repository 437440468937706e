import { libc } from "../../../fuse/libc.ts";
import { RecordfsError } from "../../base/errors.ts";
import {
  NotPrivateError,
  PrivateDirectory,
} from "../../io/dirfd/private_directory.ts";
import { libcIfPermitted } from "../../io/libc/libc.ts";
import { systemCode, whatIsWrong } from "../../io/libc/system_error.ts";
import { warn } from "../messages.ts";

/** State of root's mounts. Root uses no other directory, since other users could create those. */
const ROOT_DIRECTORY = "/run/recordfs";

const opened = new Map<string, PrivateDirectory>();
/** Paths of directories already warned about. */
const refused = new Set<string>();

/** Records and logs cannot be stored: no directory for them can be created, or others could write to it. */
export class StateDirectoryError extends RecordfsError<"state-directory"> {
  /** Reason, without the hint at the end of the message. */
  readonly reason: string;

  constructor(path: string, cause: unknown) {
    const reason = `Cannot keep records of mounts in ${path}: ${
      reasonOf(path, cause)
    }`;
    const hint = Deno.uid() === 0
      ? "Mount with -f"
      : "Set XDG_RUNTIME_DIR to a directory of your own, or mount with -f";
    super("state-directory", `${reason}. ${hint}`, { path, cause });
    this.reason = reason;
  }
}

/**
 * Opens the directories with the state of this user's mounts. A mount made at boot, or in another session of the
 * user, may be in any of them. Directories that others could have written to are ignored with a warning.
 */
export function stateDirectories(): PrivateDirectory[] {
  if (libcIfPermitted() === undefined) return []; // there cannot be mounts either
  return statePaths().flatMap((path) => {
    try {
      return [openOnce(path)];
    } catch (error) {
      // Belongs to another user's session, or one that has ended.
      const isMissing = IS_MISSING.has(systemCode(error));
      if (!isMissing && !refused.has(path)) {
        const reason = reasonOf(path, error);
        warn(`Records of mounts in ${path} are ignored: ${reason}`);
        refused.add(path);
      }
      return [];
    }
  });
}

/**
 * Opens the directory for the state of new mounts: the first that exists or can be created.
 *
 * @throws {StateDirectoryError} If there is none, or others could read and replace its files.
 */
export function makeStateDirectory(): PrivateDirectory {
  libc(); // without libc, that error is the one to report
  let failure: StateDirectoryError | undefined;
  for (const path of statePaths()) {
    try {
      return openOnce(path, true);
    } catch (error) {
      failure = new StateDirectoryError(path, error);
      if (error instanceof NotPrivateError) break;
    }
  }
  throw failure!;
}

/**
 * Opens the working directory, in which a process with {@linkcode makeStateDirectory} has started this one.
 *
 * @throws {StateDirectoryError} If others could read and replace its files.
 */
export function workingStateDirectory(): PrivateDirectory {
  try {
    return working ??= PrivateDirectory.openWorking();
  } catch (error) {
    throw new StateDirectoryError(Deno.cwd(), error);
  }
}

let working: PrivateDirectory | undefined;

/** Error codes for a directory that does not exist, or that this user may not access. */
const IS_MISSING: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "EACCES",
]);

/** Paths of the directories, in order of preference. */
function statePaths(): readonly string[] {
  const uid = Deno.uid();
  if (uid === 0) return [ROOT_DIRECTORY];
  const runtime = Deno.env.get("XDG_RUNTIME_DIR");
  const ofSession = runtime?.startsWith("/") ? [`${runtime}/recordfs`] : [];
  return [...ofSession, `/tmp/recordfs-${uid}`];
}

/** @throws {NotPrivateError | SystemError} If it does not exist, cannot be created, or is not private to this user. */
function openOnce(path: string, isToMake = false): PrivateDirectory {
  const before = opened.get(path);
  if (before !== undefined) return before;
  const directory = PrivateDirectory.open(path, isToMake);
  opened.set(path, directory);
  return directory;
}

function reasonOf(path: string, error: unknown): string {
  if (!(error instanceof NotPrivateError)) return whatIsWrong(error);
  return `${error.path === path ? "it" : error.path} ${error.fault}`;
}
