/** Data that measurements share: files in every form in which they are served. */
import { buildPrograms } from "../build.ts";
import {
  makePackedDirectorySync,
  type PackedDirectory,
} from "../../support/packed_directory.ts";
import {
  BYTES_PER_NAME,
  makePackedTree,
  type PackedTree,
} from "../packed_tree.ts";
import { memoryToTouch } from "../reader.ts";
import { progress, type Row } from "../../support/report.ts";
import type { Workspace } from "../../support/workspace.ts";
import type { Contender } from "./contender.ts";
import { type Data, unpack, unpackedSize } from "./data.ts";
import { Environment } from "./environment.ts";
import { makePeers, unpackedFiles } from "./peers.ts";

/** Part of the suite that is measured as a unit. */
export interface Measurement<S extends Scene> {
  /** Titles that its rows may have. */
  readonly titles: readonly string[];
  run(scene: S): Promise<Row[]>;
}

/** Files to serve, and their mountpoint. */
export interface Scene {
  readonly environment: Environment;
  readonly data: Data;
  /** Other file systems with their images. */
  readonly peers: readonly Contender[];
  /** The unpacked files in the page cache. */
  readonly cached: Contender;
}

/** Files of one size in one directory. */
export interface FilesScene extends Scene {
  readonly packed: PackedDirectory;
  /** MiB that the reader touches first, see {@linkcode memoryToTouch}. */
  readonly touch: number;
}

/** Small files in many directories. */
export interface TreeScene extends Scene {
  readonly tree: PackedTree;
}

/** Returns the bytes of disk that a scene needs: archive and index, files, and the peers' images. */
export function sceneSize(files: number, bytes: number): number {
  const archive = bytes + files * BYTES_PER_NAME;
  return 4 * archive + unpackedSize(files, bytes);
}

/** Makes `count` files of `size` bytes. */
export async function makeFiles(
  workspace: Workspace,
  rounds: number,
  count: number,
  size: number,
): Promise<FilesScene> {
  progress(`mount_suite: packing ${count} files of ${size} bytes`);
  const packed = makePackedDirectorySync(workspace.file("a.ffr"), count, size);
  const file = packed.names[count >> 1]!;
  const { archive, index } = packed;
  const source = { archive, index, file };
  const touch = await memoryToTouch(count * size, () =>
    progress(
      "mount_suite: memory is too small to keep the files cached several times: the " +
        "figures show the disk as well. Use a smaller --scale.",
    ));
  return {
    ...await makeScene(workspace, rounds, source, count, count * size),
    packed,
    touch,
  };
}

/** Makes `directories` directories of `inEach` files. */
export async function makeTree(
  workspace: Workspace,
  rounds: number,
  directories: number,
  inEach: number,
): Promise<TreeScene> {
  const files = directories * inEach;
  progress(`mount_suite: packing ${files} files`);
  const tree = await makePackedTree(
    workspace.file("a.ffr"),
    directories,
    inEach,
  );
  const { archive, index } = tree;
  const source = { archive, index, file: tree.path(files >> 1) };
  return { ...await makeScene(workspace, rounds, source, files, 0), tree };
}

async function makeScene(
  workspace: Workspace,
  rounds: number,
  source: Pick<Data, "archive" | "index" | "file">,
  files: number,
  bytes: number,
): Promise<Scene> {
  const programs = await buildPrograms(workspace.path);
  progress("mount_suite: unpacking them, and making the others' images");
  const unpacked = await unpack(
    source.archive,
    files,
    bytes,
    (mounted) => workspace.defer(() => mounted.stop()),
  );
  const data = { ...source, ...unpacked };
  const peers = await makePeers(data);
  for (const { name, missing } of peers) {
    if (missing) progress(`mount_suite: ${name} is ${missing}`);
  }
  const environment = new Environment(workspace, programs, rounds);
  return { environment, data, peers, cached: unpackedFiles(data) };
}
