import { runAsync, type Steps } from "../io/concurrency/steps.ts";
import { lastingAt, type PlaceOptions } from "../io/storage/place.ts";
import { samplesOf } from "../tree/samples_of.ts";
import type { Container, ContainerOptions } from "../tree/format.ts";
import type { Dataset } from "./dataset.ts";
import { hashOfNames } from "./trees/sample_names.ts";

/** How a format opens its containers. */
type OpenContainer = (
  path: string,
  options: ContainerOptions,
) => Steps<Container>;

/** Hashes the names of a dataset's samples. */
type HashNames = (signal: AbortSignal | undefined) => Promise<string>;

const hashers = new WeakMap<Dataset<unknown>, HashNames>();

/**
 * Remembers the container that a dataset has all samples of: `readIndexFile` compares the names in an index
 * file with those of the container.
 *
 * @param open How it is opened as files.
 * @param format What it is opened as, where that is a variant of the format.
 */
export function openedFrom<D extends Dataset<unknown>>(
  dataset: D,
  open: OpenContainer,
  location: string | URL,
  options: PlaceOptions,
  format?: string,
): D {
  const { path, storage } = lastingAt(location, options);
  hashers.set(dataset, async (signal) => {
    const quiet = { storage, format, onWarning() {} }; // told of before
    const container = await runAsync(open(path, quiet), signal);
    try {
      return await hashOfContainer(container);
    } finally {
      container.tree.close();
    }
  });
  return dataset;
}

/** Remembers a container that stays open as long as the dataset whose samples are its files. */
export function openedOver<D extends Dataset<unknown>>(
  dataset: D,
  container: Container,
): D {
  hashers.set(dataset, () => hashOfContainer(container));
  return dataset;
}

/**
 * Hashes the names of a dataset's samples, as {@linkcode hashOfNames} does.
 *
 * @returns `undefined` of a dataset that was made of something else than a container.
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
