import * as path from "node:path";
import { RecordfsError } from "../../../base/errors.ts";
import { jsonRecords } from "../../../formats/bags/write/json_records.ts";
import { requireLocal } from "../../../io/storage/local_path.ts";
import type { Generation } from "../../../formats/bags/mod.ts";
import type { Spec } from "../../../formats/bags/dataset/spec.ts";
import {
  type DatapointInput,
  type GivenDatapoint,
  tooFew,
} from "./datapoint_input.ts";
import { openInput } from "../../input/input_stream.ts";
import { LF, LONGEST_JSON, readLines } from "../../input/read_lines.ts";
import { SampleInputFiles } from "../../input/sample_input_files.ts";

/**
 * Input of datapoints that are lines of JSON. Paths in them are relative to the file of the lines, or to the current
 * directory if the lines come from standard input (`-`).
 */
export async function linesInput(
  given: string,
  spec: Spec,
  generation: Generation,
  signal: AbortSignal,
): Promise<DatapointInput> {
  const { name, size, chunks, close } = await openInput(given, signal);
  const beside = given === "-" ? "" : path.dirname(given);
  return {
    name,
    unit: "bytes",
    total: size,
    shards: undefined,
    close,
    async *datapoints(skip): AsyncGenerator<GivenDatapoint> {
      using files = new SampleInputFiles();
      const records = jsonRecords(
        spec,
        generation,
        (file) => {
          requireLocal(file);
          return files.pieces(path.resolve(beside, file));
        },
      );
      let line = 0;
      let done = 0;
      const options = { name, end: LF, longest: LONGEST_JSON };
      for await (const lines of readLines(chunks, options)) {
        for (const text of lines) {
          line++;
          done += text.length + 1;
          if (line <= skip) continue;
          const where = `${name}, line ${line}`;
          let point: GivenDatapoint;
          try {
            point = { records: records(text), where, done };
          } catch (error) {
            if (!(error instanceof RecordfsError)) throw error;
            const message = `${where}: ${error.message}`;
            throw new RecordfsError(error.code, message, { cause: error });
          }
          yield point;
        }
      }
      if (line < skip) throw tooFew(name, line, skip);
    },
  };
}
