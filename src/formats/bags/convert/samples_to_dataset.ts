import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
} from "../../../convert/conversion.ts";
import { recordsFrom } from "../../../convert/from/records_from.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import { writtenSpec } from "../write/written_spec.ts";
import { noteChecksums } from "./bag_target.ts";
import { datasetConversion, fitting } from "./new_dataset.ts";

/** Samples or records to a dataset with one key. */
export async function samplesToDataset(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3, spec = { sample: "bytes" } } = options;
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
  return datasetConversion(source, target, options, {
    spec,
    notes,
    unit: "samples",
    total: list.length,
    async fill(dataset) {
      for (let i = 0; i < list.length; i++) {
        const record = await list.at(i);
        await dataset.append(`sample ${i} of ${source.path}`, () => ({
          [key]: fitting(key, generation, () => record),
        }));
      }
    },
  });
}
