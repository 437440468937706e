import { Command } from "commander";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Generation } from "../../../formats/bags/mod.ts";
import type { Spec } from "../../../formats/bags/dataset/spec.ts";
import type { ShardLimits } from "../../../formats/bags/write/sharded_dataset_writer.ts";
import { FolderFiles } from "../../../convert/from/folder_files.ts";
import { DatapointFolders } from "../../../formats/bags/convert/datapoint_folders.ts";
import { openError } from "../../../io/storage/file_source.ts";
import { counted, rateAfter } from "../../terminal/amounts.ts";
import type { DatapointInput } from "./datapoint_input.ts";
import { foldersInput } from "./datapoint_folders.ts";
import { linesInput } from "./datapoint_lines.ts";
import { UsageError } from "../../exit.ts";
import { checkGiven } from "../../input/given.ts";
import { givenSpec, specFile } from "../../input/given_spec.ts";
import { createDataset, type CreatedDataset } from "./dataset_creation.ts";
import { nameWriter, print } from "../../terminal/output.ts";
import { abortable } from "../../terminal/signals.ts";
import {
  count,
  generationOption,
  size,
  wholeNumberFrom,
} from "../../input/options.ts";

interface CreateOptions extends ShardLimits {
  readonly spec?: string;
  readonly generation: Generation;
  readonly resume?: true;
  readonly json?: true;
}

const AFTER_HELP = `
SPEC is a file such as the spec.json of a dataset, or JSON itself, which starts
with a brace: {"text": "utf8", "tags": "utf8[]"}. It may be omitted if SOURCE is
a directory that has one.

SOURCE is one of
- JSON lines of up to 256 MiB, each an object with the keys of SPEC; - reads
  standard input. A utf8 is a string; an int, i64 or u64 a number; an array
  {"$array": {"dtype": "<f4", "shape": [2], "values": [1, 2]}}; msgpack and tree
  any JSON, as \`recordfs cat --decoded\` shows it: bytes are {"$bytes": "base64"}.
  A number with a point or an exponent, 1.0 or 1e5, is a float, else an integer.
  Values of other types (bytes, jpeg, mp4, your own) are {"$bytes": ...}, encoded.
  {"$file": "path"}, for any type, names a file that holds the encoded value; the
  path is relative to the file with the lines.
- a directory as \`recordfs extract\` writes it: 000042/KEY, and 000042/KEY/000000
  for lists, in shards 000000/000042/KEY. Files are the encoded values, byte for
  byte. Its shards become the shards of TARGET, unless an option says otherwise.

A dataset of generation 1 or 2 appears when it is complete. With --shard-start
or --shard-step, which let several processes share the work, each shard appears
when it is complete. A dataset of generation 3 is written in place: an error,
Ctrl-C or kill -9 leaves complete datapoints, and the same command with --resume
adds the others. An error before the first datapoint leaves nothing.

There is no --force: --resume and parallel processes add to TARGET, so it could
not be replaced as a whole. Remove TARGET first, or choose another.`;

export function makeCommand(inherit: Command): Command {
  const bag = new Command("bag")
    .copyInheritedSettings(inherit);
  return bag.addCommand(createCommand().copyInheritedSettings(bag));
}

function createCommand(): Command {
  return new Command("create")
    .description(
      "write a dataset from JSON lines, or from a directory of files",
    )
    .argument("<target>", "directory of the dataset")
    .argument("[source]", "JSON lines, or a directory of INDEX/KEY", "-")
    .option("--spec <spec>", "the type of each key: a file, or JSON")
    .addOption(generationOption("1 (bags), 2 or 3 (granular)").default(3))
    .option(
      "--shard-size <size>",
      "start a new shard after this many bytes, such as 64M",
      size,
    )
    .option("--shard-length <n>", "start a new shard after N datapoints", count)
    .option(
      "--shard-start <n>",
      "number of the first shard",
      wholeNumberFrom(0),
    )
    .option("--shard-step <n>", "write only every Nth shard", count)
    .option("--resume", "continue after the datapoints that TARGET has")
    .option("--json", "print what was written, as JSON")
    .addHelpText("after", AFTER_HELP)
    .action(create);
}

async function create(
  out: string,
  source: string,
  options: CreateOptions,
): Promise<void> {
  checkGiven(out, "the dataset");
  checkOptions(options);
  const start = performance.now();
  const created = await abortable(async (signal) => {
    const given = options.spec === undefined
      ? undefined
      : givenSpec(options.spec);
    using files = source !== "-" && isDirectory(source)
      ? new FolderFiles(source)
      : undefined;
    const { spec, input } = files === undefined
      ? await openLines(source, given, options, signal)
      : await openFolder(out, files, given, options, signal);
    try {
      return await createDataset(out, spec, input, options, signal);
    } finally {
      input.close?.();
    }
  });
  const seconds = (performance.now() - start) / 1000;
  const { addedBytes: _, ...facts } = created;
  print(
    options.json
      ? { path: out, ...facts, seconds }
      : summary(out, created, seconds),
  );
}

function checkOptions(options: CreateOptions): void {
  const { shardSize, shardLength, shardStart, shardStep } = options;
  const takesTurns = shardStart !== undefined || shardStep !== undefined;
  if (takesTurns && shardSize === undefined && shardLength === undefined) {
    throw new UsageError(
      "--shard-start and --shard-step need --shard-size or --shard-length",
    );
  }
  if (options.resume !== true || options.generation === 3) return;
  throw new UsageError(
    "--resume needs generation 3: unfinished datasets of generations 1 and 2 are not kept",
  );
}

interface Input {
  readonly spec: Spec;
  readonly input: DatapointInput;
}

async function openLines(
  lines: string,
  given: Spec | undefined,
  { generation }: CreateOptions,
  signal: AbortSignal,
): Promise<Input> {
  const spec = needed(given);
  return { spec, input: await linesInput(lines, spec, generation, signal) };
}

async function openFolder(
  out: string,
  files: FolderFiles,
  given: Spec | undefined,
  { generation }: CreateOptions,
  signal: AbortSignal,
): Promise<Input> {
  const { location } = files;
  const folders = await DatapointFolders.find(files, { spec: given, signal });
  const file = folders.specPath;
  const own = () =>
    file === undefined ? file : specFile(path.join(location, file));
  const spec = needed(given ?? own());
  const input = foldersInput(location, folders, spec, generation, out);
  return { spec, input };
}

function needed(spec: Spec | undefined): Spec {
  if (spec !== undefined) return spec;
  throw new UsageError(
    `--spec is missing: give the type of each key, such as --spec '{"text": "utf8"}'`,
  );
}

function isDirectory(input: string): boolean {
  checkGiven(input, "the input");
  try {
    return fs.statSync(input).isDirectory();
  } catch (error) {
    throw openError(input, error);
  }
}

function summary(
  out: string,
  { datapoints, added, bytes, addedBytes, shards }: CreatedDataset,
  seconds: number,
): string {
  const before = datapoints - added;
  const parts = [
    counted(datapoints, "datapoint") +
    (before > 0 ? ` (${before} of them written before)` : ""),
    counted(bytes, "byte"),
    ...shards === undefined ? [] : [counted(shards, "shard")],
  ];
  const rate = rateAfter(addedBytes, seconds);
  return `${nameWriter()(out)}: ${parts.join(", ")}${rate}\n`;
}
