import { lastingAt, type PlaceOptions } from "../io/storage/place.ts";
import { LOCAL_DISK } from "../io/storage/storage.ts";
import { VirtualFs } from "../vfs/virtual_fs.ts";
import type { Dataset } from "./dataset.ts";

/** The container that the samples of a dataset are those of, all of them: opened, or where it lies. */
export type DatasetOrigin = VirtualFs | ContainerPlace;

/** Where a container lies, and what it is opened as so that its samples are those of a dataset. */
export interface ContainerPlace extends PlaceOptions {
  readonly location: string | URL;
  /** The format, or the variant of one. */
  readonly format: string;
}

const origins = new WeakMap<object, DatasetOrigin>();

/** Remembers what a dataset was opened from: who reads an index file compares the names of the samples with it. */
export function openedFrom<D extends Dataset<unknown>>(
  dataset: D,
  origin: DatasetOrigin,
): D {
  origins.set(dataset, origin instanceof VirtualFs ? origin : lasting(origin));
  return dataset;
}

/** The place also when the working directory is another one. */
function lasting(place: ContainerPlace): ContainerPlace {
  const { path, storage } = lastingAt(place.location, place);
  return storage === LOCAL_DISK ? { ...place, location: path } : place;
}

/** What a dataset was opened from; `undefined` of one that was made of something else. */
export function originOf(dataset: Dataset<unknown>): DatasetOrigin | undefined {
  return origins.get(dataset);
}
