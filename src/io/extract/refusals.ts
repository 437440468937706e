import { RecordfsError } from "../../base/errors.ts";
import type { EntryKind } from "../directories/directory.ts";
import { systemCode, whatIsWrong } from "../libc/system_error.ts";

/** Whether a name is one, and leads nowhere but down. */
export function isSafeName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." &&
    !name.includes("/") && !name.includes("\0");
}

/** The names of a path, none of which leads anywhere but down. */
export function safeNames(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..") || path.includes("\0")) {
    throw new RecordfsError(
      "unsafe-name",
      `Cannot extract '${path}': the name could lead out of the directory`,
      { path },
    );
  }
  return names;
}

/** Has the system's refusal say what it is about; its code stays. Any other error stays what it is. */
export function refusal(
  shown: string,
  path: string,
  error: unknown,
  reason = whatIsWrong(error),
): unknown {
  const code = systemCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const message = `Cannot extract to ${shown}: ${reason}`;
  return new RecordfsError(code, message, { path, cause: error });
}

/** The chain ends above the directory that an entry of a walk lies in. */
export function gone(path: string): RecordfsError {
  return new RecordfsError(
    "changed",
    `Cannot extract to ${path}: its directory was not made, or was replaced by another meanwhile`,
    { path },
  );
}

/** A directory can not be gone into. */
export function notEntered(directory: string, kind: EntryKind): RecordfsError {
  return inTheWay(
    directory,
    kind === "symlink"
      ? "it is a symbolic link, and what it points to may lie outside"
      : "it is not a directory",
  );
}

/** What is there is not what has to be. */
export function inTheWay(path: string, reason: string): RecordfsError {
  return new RecordfsError(
    "in-the-way",
    `Cannot extract to ${path}: ${reason}`,
    { path },
  );
}

/**
 * Makes sure that a symbolic link stays inside: it goes up by `..` no further than to the root, and then only down. What
 * goes up again behind a name may be by way of another link, and anywhere.
 *
 * @param path The link's, for the message.
 * @param depth How many directories below the root it lies.
 * @throws {RecordfsError} If it could lead out.
 */
export function requireInside(
  path: string,
  target: string,
  depth: number,
): void {
  let isDown = false;
  let left = depth;
  let isInside = target !== "" && !target.startsWith("/") &&
    !target.includes("\0");
  for (const name of target.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") isDown = true;
    else if (isDown || left-- === 0) isInside = false;
  }
  if (isInside) return;
  throw new RecordfsError(
    "unsafe-link",
    `Cannot extract '${path}': the link to '${target}' could lead out of the directory`,
    { path },
  );
}
