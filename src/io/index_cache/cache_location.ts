import { createHash } from "node:crypto";
import { warnOnConsole } from "../../base/message_text.ts";
import { CacheRoot } from "../remote/cache/cache_root.ts";
import { withoutSecrets } from "../remote/remote_location.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FileSource } from "../storage/file_source.ts";

/** Location of cached data made from a state of a source. */
export interface CacheLocation {
  readonly root: CacheRoot;
  readonly name: string;
  /** Identifies the state of the source. */
  readonly state: string;
  /** The source's path, or its URL without secrets. */
  readonly of: string;
}

export interface IndexCacheOptions {
  readonly remote?: RemoteOptions | undefined;
}

/**
 * Returns where data made from a source is cached between programs: in the cache directory, by the state of the source.
 * That is its URL and tag, or its path with size, time and inode. `undefined` if the source has no such state, or
 * caching is disabled or impossible.
 */
export function cacheLocation(
  source: ByteSource,
  kind: string,
  { remote }: IndexCacheOptions,
): CacheLocation | undefined {
  const options = source instanceof RemoteSource
    ? source.origin.options
    : remote;
  const state = stateOf(source);
  if (state === undefined || options?.cache === false) return undefined;
  const warn = options?.onWarning ?? warnOnConsole;
  const root = new CacheRoot(options?.cache ?? {}, warn);
  if (root.missing !== undefined) return undefined;
  const named = createHash("sha256").update(`${kind}\n${nameOf(source)}`);
  const name = `${named.digest("hex").slice(0, 32)}.index`;
  const hashed = createHash("sha256").update(`${kind}\n${state}`);
  const of = source instanceof RemoteSource
    ? withoutSecrets(source.name)
    : nameOf(source);
  return { root, name, state: hashed.digest("hex"), of };
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
  const { name, tag, size, isLasting } = source;
  if (!isLasting) return undefined;
  return JSON.stringify([name, tag, size]);
}
