import type { WaitOptions } from "../io/byte_source.ts";
import { localPath } from "../io/local_path.ts";
import { runAsync, runSync, type Steps } from "../io/steps.ts";
import type {
  CheckOptions,
  CheckReport,
  ContainerOptions,
  Format,
  ServedContainer,
} from "../tree/format.ts";
import { findFormat } from "./find_format.ts";
import { VirtualFs } from "./virtual_fs.ts";

/** Options of {@linkcode open}. */
export interface OpenContainerOptions extends ContainerOptions {
  /** Takes the container for this format instead of looking at its content. */
  readonly format?: string | undefined;
}

/**
 * Opens a container of any format as a virtual filesystem.
 *
 * @param location A file or directory.
 * @throws {FormatError} If it is no known container, or damaged.
 *
 * @example List and read
 * ```ts
 * import { open } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using fs = await open("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * assert.ok((await fs.list("/")).includes("words"));
 * assert.ok(await fs.isFile("..."));
 * assert.equal((await fs.read("...")).length, 28);
 * ```
 */
export async function open(
  location: string | URL,
  options: OpenContainerOptions & WaitOptions = {},
): Promise<VirtualFs> {
  return await runAsync(
    openSteps(localPath(location), options),
    options.signal,
  );
}

/** {@linkcode open} without waiting, for containers on a local disk. */
export function openSync(
  location: string | URL,
  options: OpenContainerOptions = {},
): VirtualFs {
  return runSync(openSteps(localPath(location), options));
}

/**
 * Compares every checksum of a container with its content.
 *
 * @throws {FormatError} If it can't be opened at all.
 */
export async function check(
  location: string | URL,
  options: CheckOptions & OpenContainerOptions,
): Promise<CheckReport> {
  const path = localPath(location);
  const format = await runAsync(
    findFormat(path, options.format),
    options.signal,
  );
  return await format.check(path, options);
}

/** A container that other threads serve while it is still read and checked. */
export interface ServedFs {
  /** Its tree is not to be asked by this thread before `complete` has ended. */
  readonly fs: VirtualFs;
  /**
   * Reads and checks the rest of its metadata.
   *
   * @throws {FormatError} If it is damaged.
   */
  complete(): Promise<void>;
}

/** Opens a container for other threads to serve, which can begin before its metadata are checked. */
export async function openToServe(
  location: string | URL,
  options: OpenContainerOptions = {},
): Promise<ServedFs> {
  const path = localPath(location);
  const format = await runAsync(findFormat(path, options.format));
  const container = await runAsync(
    format.openToServe?.(path, options) ?? openWhole(format, path, options),
  );
  return {
    fs: new VirtualFs(path, container, options.checkData ?? true),
    complete: () => runAsync(container.complete()),
  };
}

/** Nothing is left to complete. */
function* openWhole(
  format: Format,
  path: string,
  options: ContainerOptions,
): Steps<ServedContainer> {
  return { ...yield* format.open(path, options), *complete() {} };
}

function* openSteps(
  path: string,
  options: OpenContainerOptions,
): Steps<VirtualFs> {
  const format = yield* findFormat(path, options.format);
  const container = yield* format.open(path, options);
  return new VirtualFs(path, container, options.checkData ?? true);
}
