import { RecordfsError } from "../../base/errors.ts";
import { isUrl, shownLocation } from "../../io/remote/remote_location.ts";
import { requireLocal, workingDirectory } from "../../io/storage/local_path.ts";
import { UsageError } from "../exit.ts";

/**
 * Makes sure that file names can end in what was given as `--ext`.
 *
 * @throws {UsageError} If they can't.
 */
export function checkExt(
  { ext }: { readonly ext?: string | undefined },
): void {
  if (ext === undefined || !/[/\0]/.test(ext)) return;
  throw new UsageError(`'${ext}' cannot be a suffix of file names`);
}

/**
 * Makes sure that a path was given: an empty one, as of an unset variable, would mean the current
 * directory. Nor is it a URL.
 *
 * @throws {UsageError} If it is empty.
 * @throws {RecordfsError} If it is a URL.
 */
export function checkGiven(path: string, what: string): void {
  checkSource(path, what);
  requireLocal(path);
}

/**
 * {@linkcode checkGiven} of what a URL may name as well.
 *
 * @throws {UsageError} If it is empty.
 */
export function checkSource(source: string, what: string): void {
  if (source === "") throw new UsageError(`the path of ${what} is empty`);
}

/**
 * A path from the root, without `.`, `..` and doubled slashes; symbolic links are not looked at. Of
 * systems that have mounts: Node's `resolve` does the same, and takes Deno 10 ms to load.
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

/** A container that a command line names, and where it is to show among others. */
export interface PlacedSource {
  readonly location: string;
  /** Left out where it is to show under its own name, or as the root if it is the only one. */
  readonly path?: string;
}

/**
 * Reads `SOURCE` or `SOURCE=PATH`. What there is on the disk by the whole of it is a path, as is what has nothing
 * on the disk before an equals sign. Of a URL, which may have such signs itself, it is the one behind a slash or the
 * ending of a file's name; one with a query is whole.
 *
 * @throws {UsageError} If one of the two is empty.
 */
export function parsePlaced(text: string): PlacedSource {
  checkSource(text, "the container");
  const split = isUrl(text) ? splitUrl : splitPlaced;
  const placed = text.includes("=") ? split(text) : undefined;
  if (placed?.path === "") {
    const shown = shownLocation(text);
    throw new UsageError(`${shown}: the path after the equals sign is empty`);
  }
  return placed ?? { location: text };
}

/** Places that containers can't have are a matter of the command line; other errors stay as they are. */
export async function asUsageError(error: unknown): Promise<unknown> {
  if (!(error instanceof RecordfsError)) return error;
  const { PlacementError } = await import("../../open/open_several.ts");
  return error instanceof PlacementError
    ? new UsageError(error.message)
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

/** Whoever opens it finds out what else is wrong with it. */
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
