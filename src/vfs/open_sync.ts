import { localPath } from "../io/storage/local_path.ts";
import { runSync, type Steps } from "../io/concurrency/steps.ts";
import type { Container } from "../tree/format.ts";
import { findFormat } from "./find_format.ts";
import { LOADED_FORMATS } from "./loaded_formats.ts";
import type { OpenContainerOptions } from "./open.ts";
import { type ContainerPlace, openSeveral } from "./open_several.ts";
import { VirtualFs } from "./virtual_fs.ts";

/** {@linkcode open} without waiting, for containers on a local disk. */
export function openSync(
  location: string | URL | readonly (string | URL | ContainerPlace)[],
  options: OpenContainerOptions = {},
): VirtualFs {
  const { checkData = true } = options;
  const isOne = typeof location === "string" || location instanceof URL;
  if (!isOne || options.prefix !== undefined) {
    const opening = openSeveral(
      isOne ? [location] : location,
      options,
      function* (path, own) {
        return { ...yield* openOne(path, own), async complete() {} };
      },
    );
    const { name, container } = runSync(opening);
    return new VirtualFs(name, container, checkData);
  }
  const path = localPath(location);
  return new VirtualFs(path, runSync(openOne(path, options)), checkData);
}

function* openOne(
  path: string,
  options: OpenContainerOptions,
): Steps<Container> {
  const found = yield* findFormat(path, options.format);
  const format = LOADED_FORMATS.find(({ name }) => name === found.name)!;
  return yield* format.open(path, options);
}
