import { LOCAL_DISK, pathOf } from "../io/storage/storage.ts";
import { runSync } from "../io/concurrency/steps.ts";
import { findFormat } from "./find_format.ts";
import { LOADED_FORMATS } from "./loaded_formats.ts";
import type { OpenContainerOptions } from "./open.ts";
import { VirtualFs } from "./virtual_fs.ts";

/** {@linkcode open} without waiting, for containers on a local disk. */
export function openSync(
  location: string | URL,
  options: OpenContainerOptions = {},
): VirtualFs {
  const { storage = LOCAL_DISK } = options;
  const path = pathOf(location, storage);
  const found = runSync(findFormat(path, options.format, storage));
  const format = LOADED_FORMATS.find(({ name }) => name === found.name)!;
  const container = runSync(format.open(path, options));
  return new VirtualFs(path, container, options.checkData ?? true);
}
