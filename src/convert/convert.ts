import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../errors.ts";
import { localPath } from "../io/local_path.ts";
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
import { openSource, type Source } from "./source.ts";
import { toFolder, toPacked } from "./to_files.ts";
import { samplesToDataset, toBag, toSamples } from "./to_records.ts";

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
 * The target appears when it is complete. It takes as much memory as the largest value, or list that
 * becomes one.
 *
 * @param source A container of any format, or a folder.
 * @param target Where to: nothing may be there, or an empty directory where it becomes one.
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
  try {
    const kind = targetOf(opened, to, options);
    requireOptions(opened, kind, options);
    requireAbsent(to, kind, options);
    const conversion = await planned(opened, kind, to, options);
    const plan = planOf(conversion);
    options.onPlan?.(plan);
    if (plan.lost.length > 0 && options.lossy !== true) {
      throw new ConversionError(
        "would-lose",
        `Cannot convert ${from} to ${conversion.to} without losing ${
          plan.lost.join("; ")
        }; nothing was written. The option lossy converts it all the same`,
        from,
        plan.lost,
      );
    }
    const run = new Run(from, options, conversion);
    const count = await conversion.write(run);
    const { unit } = conversion;
    return { path: to, plan, unit, count, leftOut: run.leftOut };
  } finally {
    opened.close();
  }
}

function planOf({ from, to, notes }: Conversion): ConversionPlan {
  const { kept, changed, lost } = notes;
  return { from, to, kept, changed, lost };
}

/** What to convert to: as the caller says, or as the name does. */
function targetOf(
  { kind, path }: Source,
  target: string,
  { to }: ConvertOptions,
): ConvertTarget {
  if (to !== undefined) return to;
  if (target.endsWith("/")) return "folder";
  if (target.endsWith(".bag")) return "bag";
  if (target.endsWith(".ffr")) {
    return kind === "samples" || kind === "bag"
      ? "ffrecord-samples"
      : "ffrecord";
  }
  throw new ConversionError(
    "bad-option",
    `The name ${target} does not say what ${path} is to become: end it in .ffr, .bag or a ` +
      "slash, or say it by the option to",
    path,
  );
}

/** The options that each target takes beside those of all. */
const OWN_OPTIONS: Record<ConvertTarget, readonly (keyof ConvertOptions)[]> = {
  "ffrecord": ["parts"],
  "ffrecord-samples": ["parts"],
  "gulp": ["videosPerChunk"],
  "bags": ["generation", "spec", "shardSize", "shardLength"],
  "bag": ["generation"],
  "folder": [],
};

const COUNTS = ["shardSize", "shardLength", "parts", "videosPerChunk"] as const;

function requireOptions(
  { kind, path }: Source,
  target: ConvertTarget,
  options: ConvertOptions,
): void {
  const bad = (what: string) => new ConversionError("bad-option", what, path);
  const own = OWN_OPTIONS[target];
  if (own === undefined) throw bad(`There is no target '${target}'`);
  for (const name of Object.values(OWN_OPTIONS).flat()) {
    if (options[name] === undefined || own.includes(name)) continue;
    throw bad(`The option ${name} is not for ${target}: leave it out`);
  }
  for (const name of COUNTS) {
    const count = options[name];
    if (count === undefined || Number.isSafeInteger(count) && count >= 1) {
      continue;
    }
    throw bad(`The option ${name} is a whole number from 1 on, not ${count}`);
  }
  const { generation, spec } = options;
  if (generation !== undefined && ![1, 2, 3].includes(generation)) {
    throw bad(`The generation is 1, 2 or 3, not ${generation}`);
  }
  if (spec === undefined || kind !== "dataset" && kind !== "videos") return;
  throw bad(
    `The option spec is for files and samples: ${path} has types of its own`,
  );
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
): Promise<Conversion> {
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

/** Nothing may be there but an empty directory, where the target is one. */
function requireAbsent(
  target: string,
  kind: ConvertTarget,
  { parts = 1 }: ConvertOptions,
): void {
  const found = fs.lstatSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  const isFile = kind === "bag" || kind.startsWith("ffrecord") && parts === 1;
  if (!isFile && !found.isFile()) return; // whether it is empty is seen when it is written
  throw new WriteError(
    "exists",
    `Cannot write ${target}: it exists; remove it, or choose another name`,
    { path: target },
  );
}

/** Neither may lie in the other: a folder would be read while it grows. */
function requireApart(source: string, target: string): void {
  const inside = `${realPath(source)}${path.sep}`;
  const place = realPath(path.dirname(target));
  if (!`${place}${path.sep}`.startsWith(inside)) return;
  throw new WriteError(
    "bad-name",
    `Cannot write ${target}: it lies in ${source}, which is converted; choose another place`,
    { path: target },
  );
}

/** What is not there has no other path; that is said where it is opened. */
function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
