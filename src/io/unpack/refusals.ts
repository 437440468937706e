import { RecordfsError } from "../../base/errors.ts";
import type { NamedOption } from "../../base/named_option.ts";
import type { EntryKind } from "../dirfd/directory.ts";
import { systemCode, whatIsWrong } from "../libc/system_error.ts";

/** Whether a name is a single component that does not lead upwards. */
export function isSafeName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." &&
    !name.includes("/") && !name.includes("\0");
}

/** Splits a path into names, none of which leads upwards. */
export function safeNames(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..") || path.includes("\0")) {
    throw new RecordfsError(
      "unsafe-name",
      `Cannot extract '${path}': its path leads out of the directory`,
      { path },
    );
  }
  return names;
}

/** Adds the path to a system error and keeps its code. Returns any other error unchanged. */
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

/** Makes the error of a walk entry whose directory the chain no longer reaches. */
export function gone(path: string): RecordfsError {
  return new RecordfsError(
    "changed",
    `Cannot extract to ${path}: its directory was not created, or was replaced meanwhile`,
    { path },
  );
}

export function notEntered(directory: string, kind: EntryKind): RecordfsError {
  return inTheWay(
    directory,
    kind === "symlink"
      ? "it is a symbolic link, which may lead outside"
      : "it is not a directory",
  );
}

export function inTheWay(
  path: string,
  reason: string,
  namedOptions?: readonly NamedOption[],
): RecordfsError {
  return new RecordfsError(
    "in-the-way",
    `Cannot extract to ${path}: ${reason}`,
    { path, namedOptions },
  );
}

/**
 * Checks that a symbolic link `depth` directories below the root stays inside: `..` may go up to the root at most, and
 * then only names follow. A `..` after a name might go through another link, and anywhere.
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
    `Cannot extract '${path}': its link target '${target}' leads out of the directory`,
    { path },
  );
}
