import { createHash } from "node:crypto";
import { warnOnConsole } from "../../base/message_text.ts";
import type { MessageListener } from "../../base/named_option.ts";
import { CacheRoot } from "../remote/cache/cache_root.ts";
import { isUrl, withoutSecrets } from "../remote/remote_location.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { originOf } from "../storage/made_source.ts";
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
  readonly onWarning?: MessageListener | undefined;
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
  const options = cacheOptionsOf(source, remote);
  const state = stateOf(source);
  if (state === undefined || options?.cache === false) return undefined;
  const warn = options?.onWarning ?? warnOnConsole;
  const root = new CacheRoot(options?.cache ?? {}, warn);
  if (root.missing !== undefined) return undefined;
  const named = createHash("sha256").update(`${kind}\n${nameOf(source)}`);
  const name = `${named.digest("hex").slice(0, 32)}.index`;
  const hashed = createHash("sha256").update(`${kind}\n${state}`);
  const of = isUrl(source.name) ? withoutSecrets(source.name) : nameOf(source);
  return { root, name, state: hashed.digest("hex"), of };
}

/** Returns the options of the server that a source comes from; for others, those that are given. */
export function cacheOptionsOf(
  source: ByteSource,
  remote: RemoteOptions | undefined,
): RemoteOptions | undefined {
  const origin = originOf(source);
  return origin instanceof RemoteSource ? origin.origin.options : remote;
}

function nameOf(source: ByteSource): string {
  return isUrl(source.name)
    ? source.name
    : process.getBuiltinModule("node:path").resolve(source.name);
}

function stateOf(source: ByteSource): string | undefined {
  const origin = originOf(source);
  if (origin !== source) {
    const state = stateOf(origin);
    return state && JSON.stringify([nameOf(source), source.size, state]);
  }
  if (source instanceof FileSource) {
    const { dev, ino, size, mtimeMs } = source.identity;
    return JSON.stringify([nameOf(source), dev, ino, size, mtimeMs]);
  }
  if (!(source instanceof RemoteSource)) return undefined;
  const { name, tag, size, isLasting } = source;
  if (!isLasting) return undefined;
  return JSON.stringify([name, tag, size]);
}
