import * as path from "node:path";
import { UnfitError } from "../../../convert/conversion.ts";
import { RecordfsError } from "../../../base/errors.ts";
import type { DatapointFolders } from "../../../formats/bags/convert/datapoint_folders.ts";
import { writtenSpec } from "../../../formats/bags/dataset/spec.ts";
import type { Generation } from "../../../formats/bags/mod.ts";
import type { Spec } from "../../../formats/bags/dataset/spec.ts";
import { SampleInputFiles } from "../../input/sample_input_files.ts";
import {
  type DatapointInput,
  type GivenDatapoint,
  tooFew,
} from "./datapoint_input.ts";

/**
 * Input of datapoints that are directories of files, as `recordfs extract` writes them. Each file is a record.
 *
 * @throws {RecordfsError} If a number is missing, or anything else is there.
 */
export function foldersInput(
  directory: string,
  folders: DatapointFolders,
  spec: Spec,
  generation: Generation,
  out: string,
): DatapointInput {
  folders.requireComplete();
  const { shards, isSharded } = folders;
  const written = writtenSpec(spec, generation, out);
  const read = async (place: string, files: SampleInputFiles) => {
    try {
      return await folders.read(
        place,
        written,
        (file) => files.pieces(path.join(directory, file)),
      );
    } catch (error) {
      if (!(error instanceof UnfitError)) throw error;
      const where = path.join(directory, place);
      throw new RecordfsError("bad-datapoint", `${where}: ${error.message}`, {
        path: where,
        cause: error,
      });
    }
  };
  return {
    name: directory,
    unit: "datapoints",
    total: shards.reduce((sum, { length }) => sum + length, 0),
    shards: isSharded ? shards.length : undefined,
    async *datapoints(skip, shard): AsyncGenerator<GivenDatapoint> {
      using files = new SampleInputFiles();
      let first = 0;
      let left = skip;
      for (const [i, paths] of shards.entries()) {
        if (shard === undefined || shard === i) {
          for (let row = left; row < paths.length; row++) {
            const where = path.join(directory, paths[row]!);
            const records = await read(paths[row]!, files);
            yield { records, where, done: first + row + 1 };
          }
          left = Math.max(left - paths.length, 0);
        }
        first += paths.length;
      }
      if (left > 0) throw tooFew(directory, skip - left, skip);
    },
  };
}
