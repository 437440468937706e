import { FormatError, PathError } from "../../base/errors.ts";
import { optionText, UNCHECKED } from "../../base/named_option.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { BatchRoom } from "../../io/read/read_memory.ts";
import { ReadWindows } from "../../io/read/read_windows.ts";
import { checksumOf } from "../../io/checksums/checksum.ts";
import { fillSync, readPart } from "../../io/read/read_part.ts";
import { PiecewiseCheck } from "../../io/read/verified_content.ts";
import { prefetchContents, readContents } from "../read_contents.ts";
import { isMade } from "../../io/storage/made_source.ts";
import { NotLoaded, whenLoaded } from "../not_loaded.ts";
import { type Extent, newExtent, type NodeId, type Tree } from "../tree.ts";
import { nodeNow } from "./paths.ts";
import type { VirtualFs } from "./virtual_fs.ts";
import { pathOf, type WalkEntry } from "./walk.ts";

type Files = Pick<VirtualFs, "checkData" | "location" | "tree">;

/**
 * Reads a batch of files into `memory`, or new memory. `path` returns the path of a file, for messages.
 *
 * @throws {PathError} If a node is not a file.
 * @throws {FormatError} If a content is damaged.
 */
export function readFiles(
  files: Files,
  nodes: readonly NodeId[],
  path: (i: number) => string,
  memory?: BatchRoom,
): Steps<Uint8Array<ArrayBuffer>[]> {
  return readContents({
    sources: files.tree.sources,
    length: nodes.length,
    locate: (i, into) => locateFile(files, nodes[i]!, () => path(i), into),
    mismatch: files.checkData
      ? (i, ...sums) => contentMismatch(files.location, path(i), ...sums)
      : undefined,
  }, memory);
}

/** Size up to which a procedure costs something, in bytes. */
const LARGEST_NOW = 1 << 18;

/**
 * Reads a local file without waiting, and without a procedure, which costs as much as a small file. Returns `undefined`
 * if it takes one, as several files do.
 *
 * @throws {PathError} If there is no such file.
 * @throws {FormatError} If its content is damaged.
 */
export function readFileNow(
  files: Files,
  path: string | WalkEntry | readonly (string | WalkEntry)[],
): Uint8Array<ArrayBuffer> | undefined {
  if (isBatch(path)) return undefined;
  const { tree, location, checkData } = files;
  const extent = newExtent();
  const text = () => pathOf(path);
  try {
    const node = typeof path === "string" ? nodeNow(tree, path) : path.ino;
    locateFile(files, node, text, extent);
  } catch (error) {
    if (error instanceof NotLoaded) return undefined;
    throw error;
  }
  const { source: number, offset, length, checksum, checksumKind } = extent;
  if (number < 0 || length > LARGEST_NOW) return undefined;
  const source = tree.sources.at(number)!;
  const isPlain = source.readAtSync !== undefined &&
    source.invalidate === undefined && !isMade(source);
  if (!isPlain) return undefined;
  const bytes = new Uint8Array(length);
  const sum = checkData && checksumKind !== undefined &&
    checksumOf(checksumKind);
  const actual = fillSync(source, bytes, offset, sum);
  if (sum === false || actual === checksum) return bytes;
  throw contentMismatch(location, text(), checksum, actual);
}

/** Prefetches files for {@linkcode readFiles}. Returns the number of bytes in flight or fetched. */
export function prefetchFiles(
  files: Files,
  nodes: readonly NodeId[],
  path: (i: number) => string,
): number {
  return prefetchContents({
    sources: files.tree.sources,
    length: nodes.length,
    locate: (i, into) => locateFile(files, nodes[i]!, () => path(i), into),
  });
}

/** Locates the content of a file; throws a {@linkcode PathError} if the node is not a file, or is a dangling link. */
export function locateFile(
  { tree, location }: Files,
  node: NodeId,
  path: () => string,
  into: Extent,
): void {
  if (node !== 0 && tree.locate(node, into)) return;
  // Links to directories were followed, so a link here is dangling.
  const isThere = node !== 0 && tree.isLink?.(node) !== true;
  const code = isThere ? "is-directory" : "not-found";
  throw new PathError(code, path(), location);
}

function contentMismatch(
  container: string,
  path: string,
  expected: number,
  actual: number,
): FormatError {
  return new FormatError(
    "sample-checksum",
    `Cannot read '${path}' of ${container}: checksum mismatch: the ` +
      "container is damaged. Download it again, or read it unchecked with " +
      optionText(UNCHECKED),
    {
      ...{ path, member: path, expected, actual },
      namedOptions: [UNCHECKED],
    },
  );
}

/** Returns the incremental verification of a content, if enabled. */
function checkOf(
  { tree, location, checkData }: Files,
  extent: Extent,
  path: string,
): PiecewiseCheck | undefined {
  if (!checkData) return undefined;
  const source = tree.sources.at(extent.source)!;
  return new PiecewiseCheck(
    source,
    extent,
    (...sums) => contentMismatch(location, path, ...sums),
  );
}

/** Reads part of a content, from `start` within it. */
export function* readExtent(
  tree: Tree,
  { bytes, source, offset }: Extent,
  start: number,
  length: number,
): Steps<Uint8Array<ArrayBuffer>> {
  const at = offset + start;
  return bytes === undefined
    ? yield* readPart(tree.sources.at(source)!, at, length)
    : bytes.slice(at, at + length) as Uint8Array<ArrayBuffer>;
}

/** Contents up to this size are verified before any of it is returned, if the source can fetch them again. */
const MOST_AHEAD = 32 << 20;

/**
 * Yields a file's content in pieces, each valid until the next is requested. The next piece is read meanwhile. The
 * checksum is verified at the end.
 *
 * @throws {FormatError} If the content is damaged.
 */
export async function* contentPieces(
  files: Files,
  node: NodeId,
  path: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { tree } = files;
  const extent = newExtent();
  const locate = () => locateFile(files, node, () => path, extent);
  await runAsync(whenLoaded(locate), signal);
  const { bytes, offset, length } = extent;
  if (bytes !== undefined) {
    yield bytes.subarray(offset, offset + length);
    return;
  }
  const source = tree.sources.at(extent.source)!;
  if (source.invalidate !== undefined && length <= MOST_AHEAD) {
    const [content] = await runAsync(
      readFiles(files, [node], () => path),
      signal,
    );
    yield content!;
    return;
  }
  const windows = new ReadWindows(signal);
  const check = checkOf(files, extent, path);
  try {
    for (let done = 0; done < length;) {
      const piece = windows.peek(source, offset + done, length - done);
      if (piece.length === 0) {
        await windows.move(source, offset + done);
        continue;
      }
      check?.add(piece);
      done += piece.length;
      yield piece;
    }
  } finally {
    await windows.end();
  }
  check?.end();
}

const CHUNK = 1 << 20;

/** Streams a file's content in chunks that are read on demand. The checksum is verified at the end. */
export function contentStream(
  files: Files,
  extent: Extent,
  path: string,
  signal?: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { tree, location, checkData } = files;
  const source = extent.bytes === undefined
    ? tree.sources.at(extent.source)
    : undefined;
  if (source?.invalidate !== undefined && extent.length <= MOST_AHEAD) {
    return streamOf(async () => {
      const [content] = await runAsync(
        readContents({
          sources: tree.sources,
          length: 1,
          locate: (_, into) => Object.assign(into, extent),
          mismatch: checkData
            ? (_, ...sums) => contentMismatch(location, path, ...sums)
            : undefined,
        }),
        signal,
      );
      return content!;
    });
  }
  const check = source && checkOf(files, extent, path);
  let done = 0;
  return new ReadableStream({
    async pull(controller) {
      signal?.throwIfAborted();
      if (done === extent.length) {
        check?.end();
        controller.close();
        return;
      }
      const length = Math.min(CHUNK, extent.length - done);
      const part = readExtent(tree, extent, done, length);
      const chunk = await runAsync(part, signal);
      check?.add(chunk);
      done += length;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
}

/** Makes a stream of one chunk, which is read on demand. */
function streamOf(
  read: () => Promise<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const bytes = await read();
      if (bytes.length > 0) controller.enqueue(bytes);
      controller.close();
    },
  }, { highWaterMark: 0 });
}

/** Whether several are given: `Array.isArray` does not narrow read-only arrays. */
export function isBatch<T>(paths: T | readonly T[]): paths is readonly T[] {
  return Array.isArray(paths);
}
