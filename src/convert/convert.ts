import { localPath } from "../io/storage/local_path.ts";
import { betweenDatasets } from "./between_datasets.ts";
import {
  type Conversion,
  ConversionError,
  type ConversionPlan,
  type ConvertOptions,
  type ConvertReport,
  type ConvertTarget,
  Run,
} from "./conversion.ts";
import { datasetToGulp } from "./dataset_to_gulp.ts";
import { filesToDataset } from "./files_to_dataset.ts";
import { filesToGulp } from "./files_to_gulp.ts";
import { gulpToDataset } from "./gulp_to_dataset.ts";
import { Replacement } from "./to/replacement.ts";
import { openSource, type Source } from "./from/source.ts";
import {
  formOf,
  requireAbsent,
  requireApart,
  requireName,
  requireOptions,
  targetOf,
} from "./to/target.ts";
import { toFolder, toPacked } from "./to_files.ts";
import { samplesToDataset, toBag, toSamples } from "./to_records.ts";

/** Losses that a message lists; there may be one for each video. */
const LISTED = 10;

/**
 * Converts a container, or a folder, to another format, or to another generation of Bags.
 *
 * What that keeps, changes and loses is planned before anything is written; where something would be
 * lost, nothing is, unless `lossy` is set. What has no form in the target and is found only underway, as
 * a number below 0 for generation 1 of Bags, ends the conversion in the same way; with `lossy` it is
 * left out, and counted.
 *
 * Types of Bags mean what the original packages ship: values are such that the decoders of the
 * target's generation give what those of the source's did. So `int` gets a sign byte where it needs
 * one, `array(float32,4)` of generation 1 becomes granular's `array`, texts become `msgpack` where some
 * are empty and the target has no empty records, and lists become `msgpack` or `tree` in generation 3,
 * which has none. Types of one's own keep their bytes.
 *
 * `label2idx.json` of GulpIO goes along into the directory of a dataset, or of its first shard, and
 * comes back from there: no reader of the original packages looks at it.
 *
 * The target appears when it is complete. It takes as much memory as the largest value, or list that
 * becomes one.
 *
 * @param source A container of any format, or a folder.
 * @param target Where to: nothing may be there, or an empty directory where it becomes one, unless the
 * option `replace` is set.
 * @throws {ConversionError} If something would be lost, or there is no way; nothing is written.
 * @throws {FormatError} If the source is damaged.
 * @throws {WriteError} If the target can't be written, or is there.
 *
 * @example From generation 1 of Bags to 3
 * ```ts
 * import { convert } from "@recordfs/recordfs/convert";
 * import { DatasetReader } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const target = `${await Deno.makeTempDir()}/data`;
 * const source = "test/golden/bags/lists/data";
 * const { plan } = await convert(source, target, { to: "bags", generation: 3 });
 * assert.deepEqual(plan.lost, []);
 *
 * using before = await DatasetReader.open(source);
 * using after = await DatasetReader.open(target);
 * assert.deepEqual((await after.get(0)).bar, (await before.get(0)).bar);
 * ```
 */
export async function convert(
  source: string | URL,
  target: string | URL,
  options: ConvertOptions = {},
): Promise<ConvertReport> {
  const from = localPath(source);
  const to = localPath(target);
  requireApart(from, to);
  const opened = await openSource(from, options);
  let replacement: Replacement | undefined;
  try {
    const kind = targetOf(opened, to, options);
    requireOptions(opened, kind, options);
    const form = formOf(to, kind, options);
    requireName(to, form);
    if (options.replace === true) {
      replacement = await Replacement.of(from, to, kind, form);
    } else await requireAbsent(to, kind, form, options.signal);
    const place = replacement?.path ?? to;
    const conversion = await planned(opened, kind, place, options);
    const plan = planOf(conversion);
    options.onPlan?.(plan);
    if (plan.lost.length > 0 && options.lossy !== true) {
      throw new ConversionError(
        "would-lose",
        `Cannot convert ${from} to ${conversion.to} without losing ${
          listed(plan.lost)
        }; nothing was written. The option \`lossy\` converts it all the same`,
        from,
        plan.lost,
      );
    }
    const run = new Run(from, options, conversion);
    const count = await conversion.write(run);
    options.signal?.throwIfAborted();
    await replacement?.publish();
    const { unit } = conversion;
    return { path: to, plan, unit, count, leftOut: run.leftOut };
  } catch (error) {
    throw replacement?.asPublished(error) ?? error;
  } finally {
    opened.close();
    replacement?.discard();
  }
}

/** All is in the error's field. */
function listed(losses: readonly string[]): string {
  const more = losses.length - LISTED;
  const first = losses.slice(0, LISTED).join("; ");
  return more > 0 ? `${first}; and ${more} more` : first;
}

function planOf({ from, to, notes }: Conversion): ConversionPlan {
  const { kept, changed, lost } = notes;
  return { from, to, kept, changed, lost };
}

function planned(
  source: Source,
  kind: ConvertTarget,
  target: string,
  options: ConvertOptions,
): Conversion | Promise<Conversion> {
  switch (kind) {
    case "ffrecord":
      return toPacked(source, target, options);
    case "ffrecord-samples":
      return toSamples(source, target, options);
    case "bag":
      return toBag(source, target, options);
    case "folder":
      return toFolder(source, target);
    case "gulp":
      return toGulp(source, target, options);
    case "bags":
      return toDataset(source, target, options);
  }
}

function toGulp(
  source: Source,
  target: string,
  options: ConvertOptions,
): Conversion | Promise<Conversion> {
  switch (source.kind) {
    case "dataset":
      return datasetToGulp(source, target, options);
    case "folder":
    case "packed":
    case "videos":
      return filesToGulp(source, target, options);
    default:
      throw new ConversionError(
        "cannot-convert",
        `Cannot convert ${source.path} to GulpIO: samples do not say which video they are of`,
        source.path,
      );
  }
}

function toDataset(
  source: Source,
  target: string,
  options: ConvertOptions,
): Conversion | Promise<Conversion> {
  switch (source.kind) {
    case "dataset":
      return betweenDatasets(source, target, options);
    case "videos":
      return gulpToDataset(source, target, options);
    case "samples":
    case "bag":
      return samplesToDataset(source, target, options);
    default:
      return filesToDataset(source, target, options);
  }
}
