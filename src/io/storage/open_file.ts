import { FormatError } from "../../base/errors.ts";
import { utf8Text } from "../../base/utf8.ts";
import type { Steps } from "../concurrency/steps.ts";
import { readPart } from "../read/read_part.ts";
import type { ByteSource } from "./byte_source.ts";
import type { OpenFileOptions, Storage } from "./storage.ts";

/** Git LFS pointers are shorter (git-lfs, docs/spec.md). */
const LONGEST_POINTER = 1023;

/** A whole pointer: version, optional extensions, hash and size of the file it stands for. */
const POINTER =
  /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/[^\n]*\n(?:ext-[^\n]*\n)*oid [^\n]+\nsize \d+\n?$/;

/** Files that are already open, for the next caller of {@linkcode openFile}. */
const handedOver = new WeakMap<Storage, Map<string, ByteSource>>();

/**
 * Passes an open file to the next caller of {@linkcode openFile}, so that it is not opened twice. Returns a function
 * that closes it if nobody has taken it.
 */
export function passOpenFile(
  storage: Storage,
  path: string,
  source: ByteSource,
): () => void {
  let files = handedOver.get(storage);
  if (files === undefined) handedOver.set(storage, files = new Map());
  if (files.has(path)) { // another caller's, not taken yet
    source.close();
    return () => {};
  }
  files.set(path, source);
  return () => {
    if (files.get(path) !== source) return;
    files.delete(path);
    source.close();
  };
}

function takeOver(storage: Storage, path: string): ByteSource | undefined {
  const files = handedOver.get(storage);
  const source = files?.get(path);
  files?.delete(path);
  return source;
}

/** Where open files were found. */
const places = new WeakMap<ByteSource, StoredFile>();

/** Path of a file, and the storage that it was opened from. */
export interface StoredFile {
  readonly storage: Storage;
  readonly path: string;
}

/** Returns where a file was opened; `undefined` if {@linkcode openFile} did not open it. */
export function openedAt(source: ByteSource): StoredFile | undefined {
  return places.get(source);
}

/**
 * Opens a file of a container. Throws `git-lfs-pointer` if it is a Git LFS pointer, whose text must not be taken for
 * content; otherwise like {@linkcode Storage.open}.
 */
export function* openFile(
  storage: Storage,
  path: string,
  options?: OpenFileOptions,
): Steps<ByteSource> {
  const known = options === undefined ? takeOver(storage, path) : undefined;
  if (known !== undefined) return known;
  const source = yield* storage.open(path, options);
  places.set(source, { storage, path });
  if (source.size === 0 || source.size > LONGEST_POINTER) return source;
  try {
    const text = utf8Text(yield* readPart(source, 0, source.size));
    if (!POINTER.test(text)) return source;
    throw new FormatError(
      "git-lfs-pointer",
      `Cannot open ${path}: it is a pointer of Git LFS, not the file. Run \`git lfs pull\` where it was cloned`,
      { path },
    );
  } catch (error) {
    source.close();
    throw error;
  }
}

/** {@linkcode openFile}, or `undefined` if there is no such file. */
export function* openIfThere(
  storage: Storage,
  path: string,
  options?: OpenFileOptions,
): Steps<ByteSource | undefined> {
  try {
    return yield* openFile(storage, path, options);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}
