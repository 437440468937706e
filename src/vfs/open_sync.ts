import { formats, loadedFormat, loadFormat } from "../formats/registry.ts";
import { runSync, type Steps } from "../io/concurrency/steps.ts";
import type { Container, ContainerOptions } from "../tree/format.ts";
import { findFormat } from "./find_format.ts";
import {
  areSeveral,
  type ContainerLocation,
  placeOf,
  type SeveralLocations,
} from "./location.ts";
import type { OpenContainerOptions } from "./open.ts";
import { openSeveral } from "./open_several.ts";
import { VirtualFs } from "./virtual_fs.ts";

await Promise.all(formats().map(loadFormat)); // later there is no waiting

/** {@linkcode open} without waiting, for containers on a local disk or in memory. */
export function openSync(
  location: ContainerLocation | SeveralLocations,
  options: OpenContainerOptions = {},
): VirtualFs {
  const { checkData = true } = options;
  if (areSeveral(location) || options.prefix !== undefined) {
    const opening = openSeveral(
      areSeveral(location) ? location : [{ location }],
      options,
      function* (path, own) {
        return { ...yield* openOne(path, own), async complete() {} };
      },
    );
    const { name, container } = runSync(opening);
    return new VirtualFs(name, container, checkData);
  }
  const { path, options: own } = placeOf(location, options);
  return new VirtualFs(path, runSync(openOne(path, own)), checkData);
}

function* openOne(path: string, options: ContainerOptions): Steps<Container> {
  const format = loadedFormat(yield* findFormat(path, options));
  return yield* format.open(path, options);
}
