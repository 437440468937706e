import { runAsync, type Steps } from "../io/concurrency/steps.ts";
import {
  lastingAt,
  type LocationOptions,
} from "../io/storage/stored_location.ts";
import { samplesOf } from "../tree/samples_of.ts";
import type { Container, ContainerOptions } from "../tree/format.ts";
import type { Dataset } from "./dataset.ts";
import { hashOfNames } from "./trees/sample_names.ts";

type OpenContainer = (
  path: string,
  options: ContainerOptions,
) => Steps<Container>;

type HashNames = (signal: AbortSignal | undefined) => Promise<string>;

const hashers = new WeakMap<Dataset<unknown>, HashNames>();

/**
 * Records which container a dataset has all samples of, so that `Subset.fromFile` can compare the names in an index
 * file with it.
 *
 * @param open Opens the container as files.
 * @param format Variant of the format to open it as, if any.
 */
export function openedFrom<D extends Dataset<unknown>>(
  dataset: D,
  open: OpenContainer,
  location: string | URL,
  options: LocationOptions,
  format?: string,
): D {
  const { path, storage } = lastingAt(location, options);
  hashers.set(dataset, async (signal) => {
    const quiet = { storage, format, onWarning() {} }; // warned already
    const container = await runAsync(open(path, quiet), signal);
    try {
      return await hashOfContainer(container);
    } finally {
      container.tree.close();
    }
  });
  return dataset;
}

/** Records a container that stays open as long as the dataset whose samples are its files. */
export function openedOver<D extends Dataset<unknown>>(
  dataset: D,
  container: Container,
): D {
  hashers.set(dataset, () => hashOfContainer(container));
  return dataset;
}

/**
 * Hashes the names of a dataset's samples with {@linkcode hashOfNames}; `undefined` unless it has a whole
 * container.
 */
export async function hashOfDataset(
  dataset: Dataset<unknown>,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return await hashers.get(dataset)?.(signal);
}

async function hashOfContainer({ tree, info }: Container): Promise<string> {
  return await hashOfNames(tree, await samplesOf(tree), info);
}
