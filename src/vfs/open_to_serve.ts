import { runAsync, type Steps } from "../io/steps.ts";
import type {
  Container,
  ContainerOptions,
  Format,
  ServedContainer,
} from "../tree/format.ts";
import { findFormat } from "./find_format.ts";
import type { OpenContainerOptions } from "./open.ts";

/** A container that other threads serve while it is still read and checked. */
export interface OpenedToServe {
  /** Its tree is not to be asked by this thread before `complete` has ended. */
  readonly container: Container;
  /**
   * Reads and checks the rest of its metadata.
   *
   * @throws {FormatError} If it is damaged.
   */
  complete(): Promise<void>;
}

/** Opens a container for other threads to serve, which can begin before its metadata are checked. */
export async function openToServe(
  path: string,
  options: OpenContainerOptions = {},
): Promise<OpenedToServe> {
  const found = await runAsync(findFormat(path, options.format));
  const format = await found.load();
  const container = await runAsync(
    format.openToServe?.(path, options) ?? openWhole(format, path, options),
  );
  return { container, complete: () => runAsync(container.complete()) };
}

/** Nothing is left to complete. */
function* openWhole(
  format: Format,
  path: string,
  options: ContainerOptions,
): Steps<ServedContainer> {
  return { ...yield* format.open(path, options), *complete() {} };
}
