import { libc } from "../../../fuse/libc.ts";
import { RecordfsError } from "../../base/errors.ts";
import {
  NotPrivateError,
  PrivateDirectory,
} from "../../io/directories/private_directory.ts";
import { libcIfPermitted } from "../../io/libc/libc.ts";
import { systemCode, whatIsWrong } from "../../io/libc/system_error.ts";
import { warn } from "../messages.ts";

/** Holds what is known of root's mounts. Root looks at no other, since other users can make those. */
const ROOT_DIRECTORY = "/run/recordfs";

/** Directories that this process has opened, by path. */
const opened = new Map<string, PrivateDirectory>();
/** Paths of directories that a warning was about. */
const refused = new Set<string>();

/** Neither records nor logs can be kept: no directory for them can be made, or others could write to it. */
export class StateDirectoryError extends RecordfsError<"state-directory"> {
  /** Why, without the hint that the message ends with. */
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
 * Opens the directories that hold what is known of this user's mounts. A mount made at boot, or in another session of
 * the user, may be in any of them. One that others could have written to is ignored with a warning.
 */
export function stateDirectories(): PrivateDirectory[] {
  if (libcIfPermitted() === undefined) return []; // nor can there be mounts
  return statePaths().flatMap((path) => {
    try {
      return [openOnce(path)];
    } catch (error) {
      // Of another user's session, or of one that has ended.
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
 * Opens the directory that holds what is known of new mounts, the first that is there or can be made.
 *
 * @throws {StateDirectoryError} If there is none, or others could read and replace what is in it.
 */
export function makeStateDirectory(): PrivateDirectory {
  libc(); // where there is none, that is what is to be said
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
 * Opens the state directory that this process was started in by {@linkcode makeStateDirectory}'s.
 *
 * @throws {StateDirectoryError} If others could read and replace what is in it.
 */
export function workingStateDirectory(): PrivateDirectory {
  try {
    return working ??= PrivateDirectory.openWorking();
  } catch (error) {
    throw new StateDirectoryError(Deno.cwd(), error);
  }
}

let working: PrivateDirectory | undefined;

/** What the system says of a directory that is not there, or lies where this user may not look. */
const IS_MISSING: ReadonlySet<string | undefined> = new Set([
  "ENOENT",
  "EACCES",
]);

/** Paths of the directories, the preferred one first. */
function statePaths(): readonly string[] {
  const uid = Deno.uid();
  if (uid === 0) return [ROOT_DIRECTORY];
  const runtime = Deno.env.get("XDG_RUNTIME_DIR");
  const ofSession = runtime?.startsWith("/") ? [`${runtime}/recordfs`] : [];
  return [...ofSession, `/tmp/recordfs-${uid}`];
}

/** @throws {NotPrivateError | SystemError} If it is not there, can't be made, or is not this user's alone. */
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
