import { RecordfsError } from "../base/errors.ts";
import { warnOnConsole } from "../base/message_text.ts";
import { formats } from "../formats/registry.ts";
import { decompressedName } from "../io/compressed/compressions.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import { pathIn } from "../io/storage/stored_location.ts";
import { LOCAL_DISK } from "../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../tree/format.ts";

/** Most entries of a directory that are listed to find shards below it. */
const MOST_LISTED = 8;

/**
 * Warns if a directory was opened as its shards, and its subdirectories have more files of that kind. Only directories of
 * the local disk are listed: elsewhere each listing is a request. Closes the container if `onWarning` throws.
 */
export function* warnOfOtherShards(
  path: string,
  { info: { format, parts, unreadable = [] }, tree }: Container,
  { storage = LOCAL_DISK, onWarning = warnOnConsole }: ContainerOptions,
): Steps<void> {
  if (storage !== LOCAL_DISK || parts.length === 0) return;
  const shards = new Set(parts.map(({ path }) => path));
  try {
    const names = yield* storage.list(path);
    if (names === undefined) return;
    const others = names.filter((name) => !shards.has(pathIn(path, name)));
    // Otherwise the container was found in another way than by the names in it.
    if (names.length - others.length !== shards.size) return;
    const suffixes = formats().find(({ name }) => name === format)?.suffixes;
    const suffixOf = (name: string) =>
      suffixes?.find((suffix) => decompressedName(name).endsWith(suffix));
    const isReported = (name: string) =>
      unreadable.some(({ archive }) =>
        archive === pathIn(path, name) ||
        archive.startsWith(`${pathIn(path, name)}/`)
      );
    const candidates = others.filter((name) =>
      !name.startsWith(".") && suffixOf(name) === undefined &&
      !isReported(name)
    );
    for (const name of candidates.slice(0, MOST_LISTED)) {
      const below = (yield* storage.list(pathIn(path, name))) ?? [];
      const suffix = below.map(suffixOf).find((suffix) => suffix !== undefined);
      if (suffix === undefined) continue;
      onWarning(
        `${path} has more ${suffix} files in ${name}/, which are not read: open it with --nested (nested in ` +
          "TypeScript), or name all shards by a pattern",
      );
      return;
    }
  } catch (error) {
    // What cannot be listed is no part of the container.
    if (error instanceof RecordfsError) return;
    tree.close();
    throw error;
  }
}
