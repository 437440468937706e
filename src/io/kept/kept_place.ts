import { createHash } from "node:crypto";
import { warnOnConsole } from "../../base/message_text.ts";
import { CacheRoot } from "../remote/cache/cache_root.ts";
import { withoutSecrets } from "../remote/remote_location.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FileSource } from "../storage/file_source.ts";

/** Where something is kept that was made of a source, and of which state of it. */
export interface KeptPlace {
  /** The cache that it is in. */
  readonly root: CacheRoot;
  /** Name of the file. */
  readonly name: string;
  /** What tells the state of the source from all others. */
  readonly state: string;
  /** The source's path, or its URL without secrets. */
  readonly of: string;
}

/** What is looked at of the options that a container is opened with. */
export interface KeptOptions {
  readonly remote?: RemoteOptions | undefined;
}

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
