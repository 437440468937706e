import { writtenSpec } from "../formats/bags/write/written_spec.ts";
import { dump, dumpParts } from "../formats/ffrecord/write/dump.ts";
import { isInParts } from "../formats/ffrecord/write/parts.ts";
import { LABEL_FILE } from "../formats/gulp/read/chunk_files.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "./conversion.ts";
import { writeBag } from "./to/new_bag.ts";
import { fitting, NewDataset } from "./to/new_dataset.ts";
import { contentsOf, type RecordList, recordsOf } from "./from/record_list.ts";
import type { Source } from "./from/source.ts";
import { lostInFiles } from "./from/video_reader.ts";

/** Contents without names, and what is lost by that. */
interface Records {
  readonly list: RecordList;
  readonly notes: PlanNotes;
}

/** Anything to plain samples of FFRecord. */
export async function toSamples(
  source: Source,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { parts, signal, onWarning } = options;
  const { list, notes } = await recordsFrom(source, options);
  const inParts = isInParts(target, parts);
  // Parts are written at once, and files come one after the other.
  const isByIndex = ["samples", "bag", "dataset"].includes(source.kind);
  if (!isByIndex && parts !== undefined && parts > 1) {
    throw new ConversionError(
      "bad-option",
      "Files that become samples are written to one file: leave out the option `parts`",
      source.path,
    );
  }
  return {
    from: source.what,
    to: "FFRecord samples",
    notes,
    unit: "samples",
    total: list.length,
    async write(run) {
      const onProgress = (done: number) => run.tell(done);
      const told = { signal, onWarning, onProgress };
      if (inParts) await dumpParts(list, target, parts!, told);
      else await dump(list, target, 1, told);
      return list.length;
    },
  };
}

/** Anything to a single bag. */
export async function toBag(
  source: Source,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3 } = options;
  const { list, notes } = await recordsFrom(source, options);
  noteChecksums(source, notes);
  return {
    from: source.what,
    to: `a bag of generation ${generation}`,
    notes,
    unit: "samples",
    total: list.length,
    write: (run) =>
      writeBag(target, generation, run, async (append) => {
        for (let i = 0; i < list.length; i++) {
          const record = await list.at(i);
          try {
            await append(fitting("record", generation, () => record));
          } catch (error) {
            if (!(error instanceof UnfitError)) throw error;
            run.leaveOut(`sample ${i} of ${source.path}: ${error.message}`);
          }
        }
      }),
  };
}

/** Samples or records to a dataset with one key. */
export async function samplesToDataset(
  source: Extract<Source, { kind: "samples" | "bag" }>,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3, spec = { sample: "bytes" } } = options;
  const { shardSize, shardLength } = options;
  const { list, notes } = await recordsFrom(source, options);
  const { keys } = writtenSpec(spec, generation, target);
  const [only, another] = keys;
  if (only === undefined || another !== undefined || only.type.isList) {
    throw new ConversionError(
      "bad-option",
      `Cannot convert ${source.path}: the option \`spec\` has one key for samples, and no list`,
      source.path,
    );
  }
  const { key, type } = only;
  noteChecksums(source, notes);
  notes.changed.push(
    `samples are values of the key '${key}', type ${type.word}`,
  );
  const form = { spec, generation, shardSize, shardLength };
  return {
    from: source.what,
    to: `Bags, generation ${generation}`,
    notes,
    unit: "samples",
    total: list.length,
    write: (run) =>
      NewDataset.write(target, form, run, async (dataset) => {
        for (let i = 0; i < list.length; i++) {
          const record = await list.at(i);
          await dataset.append(`sample ${i} of ${source.path}`, () => ({
            [key]: fitting(key, generation, () => record),
          }));
        }
      }),
  };
}

function noteChecksums({ kind }: Source, notes: PlanNotes): void {
  if (kind === "samples") {
    notes.changed.push("samples have no checksums: only FFRecord has them");
  }
}

/** What a source holds, as contents without names. */
async function recordsFrom(
  source: Source,
  options: ConvertOptions,
): Promise<Records> {
  const notes = new PlanNotes();
  notes.kept.push("contents and their order");
  switch (source.kind) {
    case "samples":
    case "bag":
      return { list: recordsOf(source, options), notes };
    case "dataset": {
      const { spec, keys, generation } = source.reader;
      const [key = ""] = keys;
      const type = spec[key];
      if (keys.length !== 1 || generation < 3 && type!.endsWith("[]")) {
        throw new ConversionError(
          "cannot-convert",
          `Cannot convert ${source.path}: records without names can be made of a dataset ` +
            `with one key that is no list, and this one has ${
              keys.map((key) => `'${key}' (${spec[key]})`).join(", ")
            }; convert it to a packed folder (ffrecord)`,
          source.path,
        );
      }
      notes.lost.push(`the name of the key '${key}'`, `its type, ${type}`);
      if (source.labels !== undefined) notes.lost.push(LABEL_FILE);
      if (source.isSharded) {
        notes.changed.push("all shards become one sequence");
      }
      return { list: recordsOf(source, options), notes };
    }
    case "videos":
      notes.lost.push(...lostInFiles(source));
  }
  const list = await contentsOf(await source.files(), options);
  notes.lost.push("the names of files and directories");
  return { list, notes };
}
