import { createHash } from "node:crypto";
import { variable } from "../../environment.ts";
import { withoutSecrets } from "../remote/remote_location.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FileSource } from "../storage/file_source.ts";

/** Where something is kept that was made of a source, and of which state of it. */
export interface KeptPlace {
  /** The file that it is in. */
  readonly path: string;
  /** The directory of all such files. */
  readonly directory: string;
  /** What tells the state of the source from all others. */
  readonly state: string;
  /** The source's path, or its URL without secrets. */
  readonly of: string;
}

/** What is looked at of the options that a container is opened with. */
export interface KeptOptions {
  readonly remote?: RemoteOptions | undefined;
}

/** What a tag begins with of which nothing is known: no state is told from another by it. */
const UNKNOWN_TAG = "modified 0,";

/**
 * Where things that are made of a source are kept between programs: in the cache's directory, by the state of the
 * source, which is its URL and tag, or its path with size, time and inode.
 *
 * @param kind What is kept; others of the same source are elsewhere.
 * @returns `undefined` where the source has no such state, or nothing is to be kept, or may be.
 */
export function keptPlace(
  source: ByteSource,
  kind: string,
  { remote }: KeptOptions,
): KeptPlace | undefined {
  const options = source instanceof RemoteSource
    ? source.origin.options
    : remote;
  const state = stateOf(source);
  if (state === undefined || options?.cache === false) return undefined;
  const root = options?.cache?.directory ?? usualDirectory();
  if (root === undefined) return undefined;
  const directory = `${root}/indexes`;
  const mayUse = (["read", "write"] as const).every((name) =>
    Deno.permissions.querySync({ name, path: directory }).state === "granted"
  );
  if (!mayUse) return undefined;
  const name = createHash("sha256").update(`${kind}\n${nameOf(source)}`);
  const path = `${directory}/${name.digest("hex").slice(0, 32)}.index`;
  const hashed = createHash("sha256").update(`${kind}\n${state}`);
  const of = source instanceof RemoteSource
    ? withoutSecrets(source.name)
    : nameOf(source);
  return { path, directory, state: hashed.digest("hex"), of };
}

function nameOf(source: ByteSource): string {
  return source instanceof RemoteSource
    ? source.name
    : process.getBuiltinModule("node:path").resolve(source.name);
}

function stateOf(source: ByteSource): string | undefined {
  if (source instanceof FileSource) {
    const { dev, ino, size, mtimeMs } = source.identity;
    return JSON.stringify([nameOf(source), dev, ino, size, mtimeMs]);
  }
  if (!(source instanceof RemoteSource)) return undefined;
  const { name, tag, size } = source;
  if (tag.startsWith(UNKNOWN_TAG)) return undefined;
  return JSON.stringify([name, tag, size]);
}

/** That of the cache, unless it is said otherwise. */
function usualDirectory(): string | undefined {
  const home = variable("HOME");
  const base = variable("XDG_CACHE_HOME") ?? (home && `${home}/.cache`);
  return base && `${base}/recordfs`;
}
