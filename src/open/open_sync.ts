import { formats, loadFormat } from "../formats/registry.ts";
import { runSync } from "../io/concurrency/steps.ts";
import type { ContainerLocation, SeveralLocations } from "./location.ts";
import type { OpenContainerOptions } from "./open.ts";
import { openAll } from "./open_several.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";

await Promise.all(formats().map(loadFormat)); // later there is no waiting

/** {@linkcode open} without waiting, for containers on a local disk or in memory. */
export function openSync(
  location: ContainerLocation | SeveralLocations,
  options: OpenContainerOptions = {},
): VirtualFs {
  return runSync(openAll(location, options));
}
