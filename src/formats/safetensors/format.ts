import type { Steps } from "../../io/concurrency/steps.ts";
import { reopenSources } from "../../io/storage/open_sources.ts";
import { LOCAL_DISK, type Storage } from "../../io/storage/storage.ts";
import {
  type ArrayFormat,
  ArraySamples,
} from "../../tree/arrays/array_samples.ts";
import { openArrays } from "../../tree/arrays/open_arrays.ts";
import { CheckRun } from "../../tree/check/check_run.ts";
import type { Format } from "../format.ts";
import { findFiles } from "./find_files.ts";
import { readHeader, type TensorFile, tensorOf } from "./header.ts";
import { METADATA } from "./layout.ts";

const TENSORS: ArrayFormat<TensorFile> = {
  name: "safetensors",
  metadataName: METADATA,
  unit: "tensor",
  arrayOf: tensorOf,
  share: (files) => ({ module: import.meta.url, data: files }),
};

export const safetensors: Format = {
  *open(path, options) {
    const { storage = LOCAL_DISK } = options;
    const { paths, areShards, wanted } = yield* findFiles(path, storage);
    const suffix = areShards ? /\.safetensors$/i : undefined;
    return yield* openArrays(
      TENSORS,
      paths,
      suffix,
      options,
      (source, at) => readHeader(source, wanted?.[at]),
    );
  },
  *patternPaths(pattern, storage) {
    return (yield* findFiles(pattern, storage)).paths;
  },
  /** Validates the headers of files: they say nothing of the elements. */
  async check(path, options) {
    const run = new CheckRun(options);
    const { paths, wanted } = await run.run(findFiles(path, run.storage));
    let file = 0;
    const samples = await run.files(paths, async (source) => {
      const { count } = await run.run(readHeader(source, wanted?.[file++]));
      return count;
    });
    return run.report({ samples, compares: "structure" });
  },
  async openSource(container) {
    const { ContainerSource } = await import("../../convert/from/source.ts");
    return new ContainerSource(container, "SafeTensors");
  },
};

/** Opens files that another thread has opened, using its tables. */
export function* reopenSamples(
  files: readonly TensorFile[],
  storage: Storage,
): Steps<ArraySamples<TensorFile>> {
  const sources = yield* reopenSources(storage, files);
  return new ArraySamples(TENSORS, sources, files, storage);
}
