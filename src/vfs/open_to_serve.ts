import { loadFormat } from "../formats/registry.ts";
import { perform, runAsync } from "../io/concurrency/steps.ts";
import type { ServedContainer } from "../tree/format.ts";
export type { ServedContainer };
import { findFormat } from "./find_format.ts";
import type { OpenContainerOptions } from "./open.ts";
import type { ContainerPlace } from "./location.ts";

/** Opens containers for other threads to serve, which can begin before their metadata are checked. */
export async function openToServe(
  containers: string | readonly ContainerPlace[],
  options: OpenContainerOptions = {},
): Promise<ServedContainer> {
  const isOne = typeof containers === "string";
  if (isOne && options.prefix === undefined) {
    return await openOne(containers, options);
  }
  const [{ openSeveral }, { mustWait }] = await Promise.all([
    import("./open_several.ts"),
    import("../io/storage/must_wait.ts"),
  ]);
  const opening = openSeveral(
    isOne ? [containers] : containers,
    options,
    (path, own) =>
      perform({
        sync: () => {
          throw mustWait(path);
        },
        async: () => openOne(path, own),
      }),
  );
  return (await runAsync(opening)).container;
}

async function openOne(
  path: string,
  options: OpenContainerOptions,
): Promise<ServedContainer> {
  const format = await runAsync(findFormat(path, options));
  if (format.openToServe) return await format.openToServe(path, options);
  const { open } = await loadFormat(format);
  const container = await runAsync(open(path, options));
  return { ...container, complete: () => Promise.resolve() };
}
