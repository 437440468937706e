import { inParallel } from "../concurrency/concurrency_limit.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "./byte_source.ts";
import { type KnownFile, requireSame } from "./changed_file.ts";
import type { Storage } from "./storage.ts";
import { openFile } from "./open_file.ts";

/**
 * Opens files and calls `look` with each and its index, in parallel if they must be waited for. On failure all are
 * closed, and the first failure in the order of `paths` is thrown.
 */
export function* openSources(
  storage: Storage,
  paths: readonly string[],
  look: (source: ByteSource, at: number) => Steps<void>,
): Steps<ByteSource[]> {
  const sources: ByteSource[] = [];
  try {
    yield* inParallel(paths.map(function* (path, at) {
      const source = sources[at] = yield* openFile(storage, path);
      yield* look(source, at);
    }));
    return sources;
  } catch (error) {
    for (const source of sources) source?.close(); // there may be gaps
    throw error;
  }
}

/** Opens files that another thread has opened. Throws a FormatError (`changed`) if one has changed. */
export function reopenSources(
  storage: Storage,
  files: readonly KnownFile[],
): Steps<ByteSource[]> {
  const paths = files.map(({ path }) => path);
  // deno-lint-ignore require-yield
  return openSources(storage, paths, function* (source, at) {
    requireSame(source, files[at]!);
  });
}

/** Opens a file that was opened before. Throws a FormatError (`changed`) if it has changed. */
export function* reopenSource(
  storage: Storage,
  file: KnownFile,
): Steps<ByteSource> {
  const [source] = yield* reopenSources(storage, [file]);
  return source!;
}
