import { Command } from "commander";
import { join } from "node:path";
import {
  type Assignment,
  randomAssignment,
  stratifiedAssignment,
} from "../../data/split/assignment.ts";
import { countSamples } from "../../open/data/counted_samples.ts";
import type { LabelColumn } from "../../data/split/label_column.ts";
import { indexLine } from "../../data/index_file.ts";
import { hashOfNames } from "../../data/trees/sample_names.ts";
import { samplesOf } from "../../tree/samples_of.ts";
import { IndexOutput } from "../../data/index_output.ts";
import { Ratios } from "../../data/split/ratios.ts";
import { isFileLabel, readLabels } from "../../open/data/read_labels.ts";
import { formatNamed } from "../../formats/registry.ts";
import { makeDirectories } from "../../io/write/make_directories.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { CountedSamples } from "../../tree/format.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { counted } from "../terminal/amounts.ts";
import { asUsage, UsageError } from "../exit.ts";
import { checkGiven } from "../input/given.ts";
import { warn } from "../messages.ts";
import { checkAbsent } from "../input/new_container.ts";
import {
  type CommonOptions,
  wholeNumberFrom,
  withOptions,
} from "../input/options.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { abortable } from "../terminal/signals.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { openSource, openSources } from "../input/source.ts";

interface SplitOptions extends CommonOptions {
  readonly ratios: string;
  readonly seed: number;
  readonly stratify?: string;
  readonly names?: string;
  readonly out: string;
}

/** Index file of one split. */
export interface SplitFile {
  readonly path: string;
  /** Comment lines at the start. */
  readonly comments: readonly string[];
}

/** Default names by number of splits. */
const NAMES: readonly (readonly string[])[] = [
  [],
  ["all"],
  ["train", "val"],
  ["train", "val", "test"],
];

const AFTER_HELP = `
Writes DIR/train.txt, DIR/val.txt and DIR/test.txt. Each line is an index into
SOURCE, from 0 on, in ascending order. mount, view, serve, extract, check and
convert select the samples of such a file with --subset FILE, and the library
reads it with the class Subset; all of them reject a file whose first line records
another number of samples, or other names. An index counts:
  samples of plain FFRecord files, of MDS and of WebDataset's tar, records of
  TFRecord and of a single bag, rows of Parquet, datapoints of datasets, videos
  of gulp directories and chunks; files of anything else, in the order of \`tree\`

Every index is in exactly one file. The ratios give the sizes, rounded down; the
samples that are left over go to the files with the largest remainders. The same
seed gives the same files on every machine.

With --stratify LABEL, each label is split in these ratios. LABEL is one of:
  a key of the videos' meta data, such as label
  a key of the datapoints whose values are texts or numbers
  an extension in a tar, such as cls: then files with one name are a sample
  dir: of files, the first directory of their paths
  parent: of files, the directory that they are in`;

export function makeCommand(): Command {
  const command = new Command("split")
    .argument("<source>", "the container")
    .requiredOption(
      "--ratios <list>",
      "sizes of the splits, such as 0.8,0.1,0.1 or 8,1,1",
    )
    .option("--seed <n>", "random seed", wholeNumberFrom(0), 0)
    .option("--stratify <label>", "split each label in the same ratios")
    .option("--names <list>", "names of the splits, such as train,val,test")
    .option("--out <dir>", "directory of the files; created if missing", ".")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "source", "all", "written").action(split);
}

async function split(source: string, options: SplitOptions): Promise<void> {
  const { ratios: given, seed, stratify } = options;
  const ratios = asUsage(RangeError, () => Ratios.parse(given));
  checkGiven(options.out, "the directory of the files");
  const names = namesOf(options.names, ratios.length);
  const paths = names.map((name) => join(options.out, `${name}.txt`));
  for (const path of paths) checkAbsent(path, options);
  const { fs, variant } = await openLabelled(source, options);
  using container = fs;
  const samples = countSamples(container.info);
  const { unit, length } = samples;
  const { assignment, labels } = await abortable(async (signal) => {
    const labels = await labelsOf(container, options, samples, signal);
    const assignment = labels === undefined
      ? randomAssignment(length, ratios, seed)
      : stratifiedAssignment(labels, ratios, seed);
    const names = await hashOfNames(
      container.tree,
      await samplesOf(container.tree),
      container.info,
    );
    const by = stratify === undefined ? "" : `, stratified by ${stratify}`;
    const files = paths.map((path, i): SplitFile => ({
      path,
      comments: [
        indexLine(length, names),
        `${assignment.sizes[i]} of ${length} ${unit} of ${
          shownLocation(source)
        }`,
        `recordfs split: ratios ${given}, seed ${seed}${by}`,
      ],
    }));
    await runAsync(makeDirectories(options.out, options.out), signal);
    using bar = new Progress("splitting", unit, length);
    const onProgress = (done: number) => bar.update(done);
    await writeSplits(files, assignment, length, onProgress, signal);
    return { assignment, labels };
  });
  const { sizes } = assignment;
  const shown = nameWriter();
  print(
    options.json
      ? {
        source: shownLocation(source),
        ...samples,
        seed,
        ratios: given,
        stratify,
        splits: paths.map((path, i) => ({
          name: names[i],
          path,
          count: sizes[i],
          labels: labels && labelSizes(labels, assignment, i),
        })),
      }
      : paths.map((path, i) =>
        `${shown(path)}: ${counted(sizes[i]!, unit.slice(0, -1))}\n`
      ).join(""),
  );
  if (variant !== undefined) {
    warn(
      `indices count the samples of ${
        shownLocation(source)
      }, not its files: give --format ${variant} together with --subset`,
    );
  }
  for (const [i, size] of sizes.entries()) {
    if (size === 0) warn(`${paths[i]} has no ${unit}`);
  }
}

interface Labelled {
  readonly fs: VirtualFs;
  /** Variant of its format that was chosen because its samples have labels. */
  readonly variant?: string;
}

/** Opens a container. To stratify, opens a variant of its format whose samples have labels, if any. */
async function openLabelled(
  source: string,
  options: SplitOptions,
): Promise<Labelled> {
  const { stratify, format: given } = options;
  const fs = await openSource(source, options);
  if (stratify === undefined || given !== undefined || isFileLabel(stratify)) {
    return { fs };
  }
  const { labelled: format } = formatNamed(fs.info.format);
  if (format === undefined || countSamples(fs.info).unit !== "files") {
    return { fs };
  }
  const again = { ...options, format, isAgain: true };
  const { fs: samples } = await openSources(source, again);
  if (countSamples(samples.info).length === 0) {
    samples.close();
    return { fs };
  }
  fs.close();
  return { fs: samples, variant: format };
}

function namesOf(given: string | undefined, count: number): readonly string[] {
  if (given === undefined) {
    return NAMES[count] ??
      Array.from({ length: count }, (_, i) => `split_${i}`);
  }
  const names = given.split(",").map((name) => name.trim());
  const wrong = names.find((name) =>
    name === "" || /[/\0]/.test(name) || !name.isWellFormed()
  );
  if (wrong !== undefined) {
    throw new UsageError(`'${wrong}' is not a valid name of a split`);
  }
  if (new Set(names).size < names.length) {
    throw new UsageError(`two splits have the same name: ${given}`);
  }
  if (names.length === count) return names;
  throw new UsageError(
    `there are ${counted(count, "ratio")} and ${
      counted(names.length, "name")
    }: give a name for each`,
  );
}

async function labelsOf(
  container: VirtualFs,
  { stratify }: SplitOptions,
  { unit, length }: CountedSamples,
  signal: AbortSignal,
): Promise<LabelColumn | undefined> {
  if (stratify === undefined) return undefined;
  using bar = new Progress("reading labels", unit, length);
  return await readLabels(container, stratify, {
    signal,
    onProgress: (done) => bar.update(done),
  });
}

function labelSizes(
  { names }: LabelColumn,
  { labelSizes }: Assignment,
  split: number,
): Record<string, number> {
  return Object.fromEntries(
    names.map((name, label) => [name, labelSizes![label]![split]!]),
  );
}

/** Writes the indices of each split to its file. All files appear once all are complete. */
export async function writeSplits(
  files: readonly SplitFile[],
  assignment: Assignment,
  length: number,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const outputs: IndexOutput[] = [];
  try {
    for (const { path, comments } of files) {
      outputs.push(await runAsync(IndexOutput.create(path, comments), signal));
    }
    for (let index = 0; index < length; index++) {
      const output = outputs[assignment.next()]!;
      output.add(index);
      if (!output.full) continue;
      await runAsync(output.flush(), signal);
      onProgress(index + 1);
    }
    for (const output of outputs) await runAsync(output.finish(), signal);
    for (const output of outputs) await runAsync(output.publish());
  } finally {
    for (const output of outputs) output.discard();
  }
}
