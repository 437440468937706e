import { FormatError, PathError } from "../errors.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import type { BatchRoom } from "../io/read/read_memory.ts";
import { readContents } from "../tree/read_contents.ts";
import type { Extent, NodeId, Tree } from "../tree/tree.ts";

/** An opened container of files. */
interface Files {
  readonly tree: Tree;
  /** The container's path. */
  readonly location: string;
  /** Whether contents are compared with their checksums. */
  readonly checkData: boolean;
}

/**
 * Reads a batch of files.
 *
 * @param path The path of a file of the batch, for messages.
 * @param memory What to read into; memory of their own where not given.
 * @throws {PathError} If a node is no file.
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
      ? (i, expected, actual) =>
        contentMismatch(files.location, path(i), expected, actual)
      : undefined,
  }, memory);
}

/**
 * Says where the content of a file is.
 *
 * @throws {PathError} If the node is no file.
 */
export function locateFile(
  { tree, location }: Files,
  node: NodeId,
  path: () => string,
  into: Extent,
): void {
  if (node !== 0 && tree.locate(node, into)) return;
  const code = node === 0 ? "not-found" : "is-directory";
  throw new PathError(code, path(), location);
}

/** The error for a file whose CRC-32 is not the recorded one. */
export function contentMismatch(
  container: string,
  path: string,
  expected: number,
  actual: number,
): FormatError {
  return new FormatError(
    "sample-checksum",
    `${container}: checksum mismatch in '${path}': its bytes are not those ` +
      "that were written; fetch the container again, or read it as it is with the option " +
      "`checkData: false`",
    { path, expected, actual },
  );
}
