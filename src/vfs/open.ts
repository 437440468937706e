import type { WaitOptions } from "../io/storage/byte_source.ts";
import { LOCAL_DISK, pathOf } from "../io/storage/storage.ts";
import { runAsync } from "../io/concurrency/steps.ts";
import type {
  CheckOptions,
  CheckReport,
  ContainerOptions,
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
  const { format: forced, signal, storage = LOCAL_DISK } = options;
  const path = pathOf(location, storage);
  const found = await runAsync(findFormat(path, forced, storage), signal);
  const format = await found.load();
  const container = await runAsync(format.open(path, options), signal);
  return new VirtualFs(path, container, options.checkData ?? true);
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
  const { format: forced, signal, storage = LOCAL_DISK } = options;
  const path = pathOf(location, storage);
  const found = await runAsync(findFormat(path, forced, storage), signal);
  const format = await found.load();
  return await format.check(path, options);
}
