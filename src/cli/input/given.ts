import { RecordfsError } from "../../base/errors.ts";
import { isUrl, shownLocation } from "../../io/remote/remote_location.ts";
import { chainedPath } from "../../io/storage/chained_path.ts";
import { requireLocal, workingDirectory } from "../../io/storage/local_path.ts";
import { UsageError } from "../exit.ts";
import { flagMessageOf } from "../flag_words.ts";

/** @throws {UsageError} If the value of `--ext` cannot be a suffix of file names. */
export function checkExt(
  { ext }: { readonly ext?: string | undefined },
): void {
  if (ext === undefined || !/[/\0]/.test(ext)) return;
  throw new UsageError(`'${ext}' is not a valid suffix of file names`);
}

/**
 * Checks that a path is not empty, since one from an unset variable would mean the current directory.
 *
 * @throws {UsageError} If it is empty.
 * @throws {RecordfsError} If it is a URL.
 */
export function checkGiven(path: string, what: string): void {
  checkSource(path, what);
  requireLocal(path);
}

/** Like {@linkcode checkGiven}, but allows URLs. */
export function checkSource(source: string, what: string): void {
  if (source === "") throw new UsageError(`the path of ${what} is empty`);
}

/**
 * Makes a path absolute, without `.`, `..` and doubled slashes. Does not resolve symbolic links. Only for systems that
 * have mounts. Node's `resolve` does the same, but takes Deno 10 ms to load.
 */
export function absolutePath(path: string): string {
  const parts: string[] = [];
  const whole = path.startsWith("/") ? path : `${workingDirectory()}/${path}`;
  for (const part of whole.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** A container named on the command line, and the directory that it shows in. */
export interface PlacedSource {
  readonly location: string;
  /** Absent if it shows under its own name, or as the root if it is the only one. */
  readonly path?: string;
}

/**
 * Parses `SOURCE` or `SOURCE=PATH`. The whole text is a path if it exists on disk, or if nothing before any equals
 * sign does. URLs may contain equals signs themselves: only one after a slash or a file name's extension separates
 * PATH, and a URL with a query is never split.
 *
 * @throws {UsageError} If either part is empty.
 */
export function parsePlaced(given: string): PlacedSource {
  checkSource(given, "the container");
  const text = chainedPath(given);
  const split = isUrl(text) ? splitUrl : splitPlaced;
  const placed = text.includes("=") ? split(text) : undefined;
  if (placed?.path === "") {
    const shown = shownLocation(text);
    throw new UsageError(`${shown}: the path after the equals sign is empty`);
  }
  return placed ?? { location: text };
}

/** Converts a `PlacementError` to a usage error; returns other errors unchanged. */
export async function asUsageError(error: unknown): Promise<unknown> {
  if (!(error instanceof RecordfsError)) return error;
  const { PlacementError } = await import("../../open/open_several.ts");
  return error instanceof PlacementError
    ? new UsageError(flagMessageOf(error))
    : error;
}

function splitPlaced(text: string): PlacedSource | undefined {
  if (mayExist(text)) return undefined;
  let at = text.lastIndexOf("=");
  while (at > 0) {
    const location = text.slice(0, at);
    if (mayExist(location)) return { location, path: text.slice(at + 1) };
    at = text.lastIndexOf("=", at - 1);
  }
  return undefined;
}

function splitUrl(text: string): PlacedSource | undefined {
  const [, location, path] =
    /^([^?]*(?:\/|\.[a-z]{2,5}))=([^?]*)$/.exec(text) ??
      [];
  return location === undefined || path === undefined
    ? undefined
    : { location, path };
}

/** Whether a path exists, or cannot be checked: opening it then reports the error. */
function mayExist(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory ||
      error instanceof Deno.errors.FilesystemLoop);
  }
}
