import type { WaitOptions } from "../io/storage/byte_source.ts";
import { loadFormat } from "../formats/registry.ts";
import { runAsync } from "../io/concurrency/steps.ts";
import type {
  CheckOptions,
  CheckReport,
  ContainerOptions,
} from "../tree/format.ts";
import { findFormat } from "./find_format.ts";
import { type ContainerLocation, placeOf } from "./location.ts";
import { VirtualFs } from "./virtual_fs.ts";

/** Options of {@linkcode open}. */
export type OpenContainerOptions = ContainerOptions;

/**
 * Opens a container of any format as a virtual filesystem.
 *
 * @param location A file or directory; or a container's bytes, or those of its files by their names.
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
  location: ContainerLocation,
  options: OpenContainerOptions & WaitOptions = {},
): Promise<VirtualFs> {
  const { path, options: own } = placeOf(location, options);
  const { signal } = options;
  const found = await runAsync(findFormat(path, own), signal);
  const format = await loadFormat(found);
  const container = await runAsync(format.open(path, own), signal);
  return new VirtualFs(path, container, options.checkData ?? true);
}

/**
 * Compares every checksum of a container with its content.
 *
 * @throws {FormatError} If it can't be opened at all.
 */
export async function check(
  location: ContainerLocation,
  options: CheckOptions,
): Promise<CheckReport> {
  const { path, options: own } = placeOf(location, options);
  const found = await runAsync(findFormat(path, own), options.signal);
  const format = await loadFormat(found);
  return await format.check(path, own);
}
