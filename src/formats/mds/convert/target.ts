import { untold } from "../../../io/write/writer_base.ts";
import { Buffer } from "node:buffer";
import { pictureSize } from "../../../codecs/image/picture_size.ts";
import { parsePlainJson } from "../../../codecs/json/value.ts";
import { readNpy } from "../../../codecs/numpy/npy.ts";
import { integerIn, textIn } from "../../../codecs/values/decode_value.ts";
import {
  type ConvertOptions,
  isAboutValue,
  PlanNotes,
  type Run,
  UnfitError,
} from "../../../convert/conversion.ts";
import type { FileTree } from "../../../convert/from/file_tree.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import {
  type ConversionTarget,
  DIRECTORY,
} from "../../../convert/to/target.ts";
import { WriteError } from "../../../base/errors.ts";
import type { MDSInput } from "../write/mds_writer.ts";
import { encodingOf } from "../encodings/encoding.ts";
import { INDEX, isShard } from "../layout.ts";
import { MDSWriter } from "../write/mds_writer.ts";
import { betweenMds } from "./between_mds.ts";
import { samplesToMds } from "./samples_to_mds.ts";
import { MdsSource } from "./source.ts";
import { type GroupedFiles, groupFiles, isStray } from "./sample_groups.ts";

/** Columns besides those of files: the path of a file, and the common name of a sample's files. */
const PATH = "path";
const KEY = "__key__";
/** Column of contents if each file is a sample. */
const CONTENT = "content";

const ENCODINGS: Readonly<Record<string, string>> = {
  __proto__: null as never, // suffixes are arbitrary strings
  ".jpg": "jpeg",
  ".jpeg": "jpeg",
  ".png": "png",
  ".json": "json",
  ".txt": "str",
  ".cls": "str_int",
  ".npy": "ndarray",
};

interface FieldColumn {
  readonly name: string;
  readonly encoding: string;
}

interface SamplePlan {
  readonly files: FileTree;
  readonly grouped: GroupedFiles;
  /** By field of a file. */
  readonly byField: ReadonlyMap<string, FieldColumn>;
  /** Column for the path or key, if any. */
  readonly named: string | undefined;
}

/** Converts anything to a dataset: files that belong together form a sample, otherwise each file is one. */
export const mdsTarget: ConversionTarget = {
  options: ["shardSize", "shardLength"],
  content: {
    what: "shards of MDS",
    isOwn: (name) => name === INDEX || isShard(name),
  },
  form: () => DIRECTORY,
  async plan(source, target, options) {
    if (source instanceof MdsSource) {
      const same = betweenMds(source, target, options);
      if (same !== undefined) return same;
    }
    const notes = new PlanNotes();
    const rows = await source.samples(notes, options);
    if (rows !== undefined) {
      return samplesToMds(rows, source, target, notes, options);
    }
    source.noteFiles(notes);
    const { checksumChange } = source;
    if (checksumChange !== undefined) notes.changed.push(checksumChange);
    const plan = await samplePlan(source, options);
    noteSamples(notes, plan);
    return {
      from: source.what,
      to: "MDS, not compressed",
      notes,
      unit: "samples",
      total: plan.grouped.samples,
      write: (run) => writeSamples(plan, target, run, options),
    };
  },
};

async function samplePlan(
  source: ConversionSource,
  options: ConvertOptions,
): Promise<SamplePlan> {
  const files = await source.files();
  const grouped = await groupFiles(files.walk(options));
  const { grouping, fields, suffix } = grouped;
  if (grouping.kind === "files") {
    const encoding = ENCODINGS[suffix!] ?? "bytes";
    const byField = new Map([["", { name: CONTENT, encoding }]]);
    const named = source.isNumbered ? undefined : PATH;
    return { files, grouped, byField, named };
  }
  const byField = new Map<string, FieldColumn>();
  const taken = new Set<string>([KEY]);
  for (const field of fields) {
    const suffix = /\.[^.]*$/.exec(`.${field}`)![0].toLowerCase();
    const encoding = ENCODINGS[suffix];
    const bare = grouping.kind === "keys" || encoding === undefined
      ? field
      : field.slice(0, -suffix.length);
    const name = bare === "" || taken.has(bare) ? field : bare;
    taken.add(name);
    byField.set(field, { name, encoding: encoding ?? "bytes" });
  }
  const named = grouping.kind === "keys" ? KEY : undefined;
  return { files, grouped, byField, named };
}

function noteSamples(
  { changed, lost }: PlanNotes,
  { grouped, byField, named }: SamplePlan,
): void {
  const what = {
    directories: "each directory becomes a sample, in the order of names",
    keys: "files with one name and several extensions become a sample",
    files: "each file becomes a sample",
  }[grouped.grouping.kind];
  const { strays } = grouped;
  if (strays.length > 0) {
    lost.push(`files next to the directories of samples: ${strays.join(", ")}`);
  }
  if (grouped.emptyDirectories > 0) {
    lost.push(`empty directories (${grouped.emptyDirectories})`);
  }
  const columns = [...byField.values()].map(({ name, encoding }) =>
    `${name} (${encoding})`
  );
  if (named !== undefined) columns.unshift(`${named} (str)`);
  changed.push(`${what}, with the columns ${columns.join(", ")}`);
}

interface Gathered {
  readonly key: string;
  readonly values: Record<string, MDSInput>;
  /** Names of values whose bytes are valid only during the current batch of files. */
  borrowed: string[];
  /** Whether one of its files could not be encoded. */
  isUnfit: boolean;
}

async function writeSamples(
  { files, grouped, byField, named }: SamplePlan,
  target: string,
  run: Run,
  { shardSize, shardLength }: ConvertOptions,
): Promise<number> {
  const { signal } = run;
  const { grouping } = grouped;
  const columns = Object.fromEntries(
    [...byField.values()].map(({ name, encoding }) => [name, encoding]),
  );
  if (named !== undefined) columns[named] = "str";
  await using writer = untold(
    await MDSWriter.open(target, {
      columns,
      sizeLimit: shardSize,
      shardLength,
      signal,
    }),
  );
  let sample: Gathered | undefined;
  const write = async () => {
    if (sample === undefined || sample.isUnfit) return;
    const { key, values } = sample;
    try {
      if (named !== undefined) values[named] = key;
      await writer.write(values, { signal });
      run.tell(writer.length);
    } catch (error) {
      const isUnfit = error instanceof WriteError && error.code === "bad-value";
      if (!isUnfit) throw error;
      run.leaveOut(`'${key}': ${error.message}`, error);
    }
  };
  for await (const batch of files.contents({ signal })) {
    for (const { entry, content } of batch.files) {
      if (content === undefined) continue;
      if (grouping.kind === "directories" && isStray(entry)) continue;
      const key = grouping.keyOf(entry);
      if (key !== sample?.key) {
        await write();
        // Column names are arbitrary, including names of Object's members.
        const values: Gathered["values"] = Object.create(null);
        sample = { key, values, borrowed: [], isUnfit: false };
      }
      const { name, encoding } = byField.get(grouping.fieldOf(entry))!;
      const bytes = content instanceof Uint8Array ? content : Buffer.concat(
        await Array.fromAsync(content, (piece) => piece.slice()),
      );
      try {
        sample.values[name] = valueIn(encoding, bytes);
        sample.borrowed.push(name);
      } catch (error) {
        if (!isAboutValue(error)) throw error;
        sample.isUnfit = true;
        run.leaveOut(
          `'${entry.path}' is not a valid ${encoding}: ${error.message}`,
          error,
        );
      }
    }
    for (const name of sample?.borrowed ?? []) {
      const value = sample!.values[name];
      if (value instanceof Uint8Array) sample!.values[name] = value.slice();
    }
    if (sample !== undefined) sample.borrowed = [];
  }
  await write();
  await writer.close({ signal });
  return writer.length;
}

/** Converts a file's content to a value of an encoding; throws why it is not such a value. */
function valueIn(encoding: string, bytes: Uint8Array): MDSInput {
  switch (encodingOf(encoding)!.type.kind) {
    case "text":
      return textIn(bytes);
    case "number":
      return integerIn(bytes);
    case "tree":
      parsePlainJson(textIn(bytes));
      return bytes;
    case "image":
      if (pictureSize(bytes) !== undefined) return bytes;
      throw new UnfitError("it is not a picture");
    case "array":
      return readNpy(bytes.slice()); // the array shares their memory
    default:
      return bytes;
  }
}
