import { formats, loadedFormat, loadFormat } from "../formats/registry.ts";
import { runSync } from "../io/concurrency/steps.ts";
import { findFormat } from "./find_format.ts";
import { type ContainerLocation, placeOf } from "./location.ts";
import type { OpenContainerOptions } from "./open.ts";
import { VirtualFs } from "./virtual_fs.ts";

await Promise.all(formats().map(loadFormat)); // later there is no waiting

/** {@linkcode open} without waiting, for containers on a local disk or in memory. */
export function openSync(
  location: ContainerLocation,
  options: OpenContainerOptions = {},
): VirtualFs {
  const { path, options: own } = placeOf(location, options);
  const format = loadedFormat(runSync(findFormat(path, own)));
  const container = runSync(format.open(path, own));
  return new VirtualFs(path, container, options.checkData ?? true);
}
