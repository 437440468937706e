import { untold } from "../../../io/write/writer_base.ts";
import { basename } from "node:path";
import {
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import type { FileTree } from "../../../convert/from/file_tree.ts";
import {
  type ConversionTarget,
  DIRECTORY,
  FILE,
} from "../../../convert/to/target.ts";
import { sniffedSuffix } from "../../../codecs/values/sniffed_suffix.ts";
import { WriteError } from "../../../base/errors.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { keyOfPath } from "../read/sample_keys.ts";
import { isShard } from "../layout.ts";
import { TarWriter } from "../write/tar_writer.ts";
import { BYTES, SampleMembers } from "./sample_members.ts";

const DIGITS = 6;

const LIMITS: readonly NamedOption[] = [
  { name: "shardLength" },
  { name: "shardSize" },
];

type Limits = Pick<ConvertOptions, "shardLength" | "shardSize">;

/** Converts files or samples to a tar, or to shards in a directory, with the layout of a mount. */
export const tarTarget: ConversionTarget = {
  options: ["shardSize", "shardLength"],
  content: { what: "tars", isOwn: isShard },
  form(path, options) {
    if (areShards(options)) return DIRECTORY;
    if (/[^/]\.tar$/.test(path)) return FILE;
    throw new WriteError(
      "bad-name",
      `Cannot write ${path}: the name of a tar must end in .tar. For shards, give ${
        LIMITS.map(optionText).join(" or ")
      }`,
      { path, namedOptions: LIMITS },
    );
  },
  async plan(source, target, options) {
    const notes = new PlanNotes();
    const rows = source.samplesAreFiles
      ? undefined
      : await source.samples(notes, options);
    const files = await source.files();
    const samples = rows &&
      await SampleMembers.plan(rows, source.path, notes, options);
    if (samples === undefined) source.noteFiles(notes);
    if (source.isNumbered) {
      notes.changed.push(
        `names get a suffix that fits their content, such as .jpg, or .${BYTES}`,
      );
    }
    const { checksumChange } = source;
    if (checksumChange !== undefined) notes.changed.push(checksumChange);
    const inShards = areShards(options);
    if (inShards && samples === undefined) {
      notes.changed.push("directories exist only in the paths of files");
    }
    const what = samples === undefined ? "tar" : "tar of WebDataset";
    const write = (pathOf: (shard: number) => string, run: Run) => {
      const shards = new TarShards(pathOf, run, options);
      return shards.write(() =>
        samples === undefined
          ? writeFiles(files, shards, run, source.isNumbered)
          : writeSamples(samples, files.mtime, shards, run)
      );
    };
    return {
      from: source.what,
      to: inShards ? `shards of ${what}s` : `a ${what}`,
      notes,
      unit: samples === undefined ? "files" : "samples",
      total: samples?.length,
      write: (run) =>
        inShards
          ? NewDirectory.write(target, run.signal, (temporary) => {
            const start = `${temporary}/${basename(target)}`;
            return write((shard) => shardPath(start, shard), run);
          })
          : write(() => target, run),
    };
  },
};

function areShards({ shardLength, shardSize }: Limits): boolean {
  return shardLength !== undefined || shardSize !== undefined;
}

/** Output tars: one, or several if there are limits. A sample is never split across tars. */
class TarShards {
  readonly inShards: boolean;
  readonly #pathOf: (shard: number) => string;
  readonly #signal: AbortSignal | undefined;
  readonly #limits: Limits;
  #writer: TarWriter | undefined;
  #shards = 0;
  #samples = 0;

  /** @param pathOf Returns the path of a shard. */
  constructor(
    pathOf: (shard: number) => string,
    { signal }: Run,
    limits: Limits,
  ) {
    this.inShards = areShards(limits);
    this.#pathOf = pathOf;
    this.#signal = signal;
    this.#limits = limits;
  }

  /** Returns the tar that is being written, and opens it if necessary. */
  async current(): Promise<TarWriter> {
    return this.#writer ??= await TarWriter.open(
      this.#pathOf(this.#shards++),
      { signal: this.#signal },
    );
  }

  /** Closes the current tar if it is full, before the next sample. */
  async startSample(): Promise<void> {
    const { shardLength = Infinity, shardSize = Infinity } = this.#limits;
    const isFull = this.#samples >= shardLength ||
      (this.#writer?.size ?? 0) >= shardSize;
    if (isFull) await this.#close();
    this.#samples = isFull ? 1 : this.#samples + 1;
  }

  /** Runs `fill` and closes the last tar. If there is no content, writes one without members. */
  async write(fill: () => Promise<number>): Promise<number> {
    try {
      const count = await fill();
      await this.current();
      await this.#close();
      return count;
    } finally {
      if (this.#writer !== undefined) {
        await untold(this.#writer)[Symbol.asyncDispose]();
      }
    }
  }

  async #close(): Promise<void> {
    await this.#writer?.close({ signal: this.#signal });
    this.#writer = undefined;
  }
}

/**
 * Writes files, and their directories unless the output is sharded. Returns the number of files.
 *
 * @param areContents Whether names are mere numbers: they get an extension, because WebDataset readers skip files
 * without one.
 */
async function writeFiles(
  files: FileTree,
  shards: TarShards,
  run: Run,
  areContents: boolean,
): Promise<number> {
  const { signal } = run;
  const { mtime } = files;
  let count = 0;
  let key: string | undefined;
  for await (const batch of files.contents({ signal })) {
    for (const { entry, content } of batch.files) {
      if (content === undefined) {
        if (shards.inShards) continue;
        const tar = await shards.current();
        await tar.makeDirectory(entry.path, { mtime, signal });
        continue;
      }
      const own = keyOfPath(entry.path);
      if (own !== key) await shards.startSample();
      key = own;
      const size = content instanceof Uint8Array
        ? content.length
        : await files.size(entry);
      const tar = await shards.current();
      const { suffix, data } = areContents
        ? await suffixed(content)
        : { suffix: "", data: content };
      await tar.write(`${entry.path}${suffix}`, data, { mtime, signal, size });
      run.tell(++count);
    }
  }
  return count;
}

type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Detects the suffix for a content from its first bytes; returns it with the content. */
async function suffixed(
  content: Content,
): Promise<{ readonly suffix: string; readonly data: Content }> {
  if (content instanceof Uint8Array) {
    return { suffix: sniffedSuffix(content) ?? `.${BYTES}`, data: content };
  }
  const pieces = content[Symbol.asyncIterator]();
  const first = await pieces.next();
  const suffix = first.done ? undefined : sniffedSuffix(first.value);
  const data = async function* () {
    if (!first.done) yield first.value.slice();
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  return { suffix: suffix ?? `.${BYTES}`, data: data() };
}

async function writeSamples(
  samples: SampleMembers,
  mtime: Date,
  shards: TarShards,
  run: Run,
): Promise<number> {
  const { signal } = run;
  let count = 0;
  for await (const { key, members } of samples.read(run)) {
    await shards.startSample();
    const tar = await shards.current();
    for (const { extension, bytes } of members) {
      await tar.write(`${key}.${extension}`, bytes, { mtime, signal });
    }
    run.tell(++count);
  }
  return count;
}

function shardPath(start: string, shard: number): string {
  return `${start}-${String(shard).padStart(DIGITS, "0")}.tar`;
}
