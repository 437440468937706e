import { runAsync } from "../io/concurrency/steps.ts";
import type { ServedContainer } from "../tree/format.ts";
export type { ServedContainer };
import { findFormat } from "./find_format.ts";
import type { OpenContainerOptions } from "./open.ts";

/** Opens a container for other threads to serve, which can begin before its metadata are checked. */
export async function openToServe(
  path: string,
  options: OpenContainerOptions = {},
): Promise<ServedContainer> {
  const format = await runAsync(
    findFormat(path, options.format, options.storage),
  );
  if (format.openToServe) return await format.openToServe(path, options);
  const { open } = await format.load();
  const container = await runAsync(open(path, options));
  return { ...container, complete: () => Promise.resolve() };
}
