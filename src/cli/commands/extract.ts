import { Command } from "commander";
import { FormatError, RecordfsError } from "../../errors.ts";
import type { VirtualFs, WalkEntry } from "../../vfs/mod.ts";
import {
  type ChosenGlob,
  chosenPaths,
  GLOB_HELP,
  isWithin,
  matching,
  nothingMatches,
  withoutOverlap,
} from "../input/chosen_paths.ts";
import { counted, rateAfter } from "../terminal/amounts.ts";
import { Exit, ExitCode, UsageError } from "../exit.ts";
import { ExtractTarget } from "../../io/write/extract_target.ts";
import { inFlags } from "../flag_words.ts";
import { checkGiven } from "../input/given.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { openSource } from "../input/source.ts";
import { Flood, report } from "../messages.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { Progress } from "../terminal/progress.ts";
import { abortable } from "../terminal/signals.ts";

interface ExtractOptions extends CommonOptions {
  readonly overwrite?: true;
}

/** What could not be extracted, as `--json` has it. */
interface Failure {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Files are read together up to these limits; larger ones are streamed. */
const BATCH_ENTRIES = 256;
const BATCH_BYTES = 8 << 20;

/** What the next file would meet as well. */
const ENDS_ALL = new Set(
  ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"],
);

/** `recordfs extract` */
export function makeCommand(): Command {
  const command = new Command("extract")
    .description("write a container's files to a directory")
    .argument("<source>", "the container")
    .argument("<dir>", "where to; made if it is not there")
    .argument("[path...]", "only these files and directories of it, or globs")
    .option("-f, --force", "replace files that are there already")
    .option("--overwrite", "the same as --force")
    .option("--json", "say what was extracted, and what was not, as JSON")
    .addHelpText("after", GLOB_HELP);
  return withOptions(command, "format", "all", "tree", "decoded", "verify")
    .action(extract);
}

async function extract(
  source: string,
  directory: string,
  paths: readonly string[],
  options: ExtractOptions,
): Promise<void> {
  checkGiven(directory, "the directory to extract to");
  if (!directory.isWellFormed()) {
    throw new UsageError(
      "the directory to extract to has a name that is not UTF-8",
    );
  }
  using fs = await openSource(source, options);
  const replace = options.force === true || options.overwrite === true;
  const { mtime } = await fs.stat("");
  const start = performance.now();
  const failed: Failure[] = [];
  const faults = new Flood(report, options);
  const onFailure = options.json
    ? (failure: Failure) => void failed.push(failure)
    : ({ message }: Failure) => faults.add(message);
  const { counts } = await abortable(async (signal) => {
    using target = new ExtractTarget(directory, { replace, mtime });
    return await new Extraction(fs, target, onFailure, signal).run(paths);
  });
  faults.end();
  const seconds = (performance.now() - start) / 1000;
  const { failures, ...facts } = counts;
  const { files, directories, bytes } = facts;
  print(
    options.json
      ? { path: directory, ...facts, seconds, failed }
      : `${nameWriter()(directory)}: ${counted(files, "file")}, ` +
        `${counted(directories, "directory", "directories")}, ` +
        `${counted(bytes, "byte")}${rateAfter(bytes, seconds)}\n`,
  );
  if (failures === 0) return;
  const items = failures === 1
    ? "1 file or directory was"
    : `${failures} files and directories were`;
  report(`${items} not extracted from ${source}`);
  throw new Exit(ExitCode.FAILED);
}

class Extraction {
  readonly #fs: VirtualFs;
  readonly #target: ExtractTarget;
  readonly #onFailure: (failure: Failure) => void;
  readonly #signal: AbortSignal;
  /** Directories to be made and small files to be written, in the order of the walk. */
  readonly #batch: WalkEntry[] = [];
  #progress: Progress | undefined;
  #batchBytes = 0;
  /** Depth of a directory that could not be made: nothing in it can. */
  #lostDepth = Infinity;
  #done = 0;
  /**
   * What was extracted: directories that were in the container, or in what was asked for of it; and how many files
   * and directories were not, each of which has been reported.
   */
  readonly counts = { files: 0, directories: 0, bytes: 0, failures: 0 };

  constructor(
    fs: VirtualFs,
    target: ExtractTarget,
    onFailure: (failure: Failure) => void,
    signal: AbortSignal,
  ) {
    this.#fs = fs;
    this.#target = target;
    this.#onFailure = onFailure;
    this.#signal = signal;
  }

  async run(paths: readonly string[]): Promise<this> {
    const chosen = await chosenPaths(this.#fs, paths);
    const globs = chosen.filter((one) => typeof one === "object");
    const names = chosen.filter((one) => typeof one === "string");
    const wanted = paths.length === 0 ? [""] : withoutOverlap(names);
    const total = Progress.shown && globs.length === 0
      ? await this.#measure(wanted)
      : undefined;
    using progress = new Progress("extracting", "bytes", total);
    this.#progress = progress;
    for (const path of wanted) {
      await this.#guard(path, () => this.#extract(path));
    }
    if (globs.length > 0) await this.#extractMatching(globs, wanted);
    await this.#flush();
    return this;
  }

  /** Extracts what globs match, but what was extracted before. */
  async #extractMatching(
    globs: readonly ChosenGlob[],
    before: readonly string[],
  ): Promise<void> {
    const done = new Set(before);
    const entries = matching(this.#fs, globs, true, this.#signal);
    for await (const entry of entries) {
      if (done.size > 0 && isWithin(entry.path, done)) continue;
      await this.#addEntry({ ...entry, depth: 0 });
    }
    for (const glob of globs) {
      if (glob.found) continue;
      const error = nothingMatches(this.#fs.location, glob);
      await this.#guard(glob.text, () => Promise.reject(error));
    }
  }

  /** How many bytes there are to extract. What is wrong with a path is said in its turn. */
  async #measure(paths: readonly string[]): Promise<number> {
    let bytes = 0;
    for (const path of paths) {
      if (!await this.#fs.isDir(path)) {
        bytes += await this.#sizeOf(path);
        continue;
      }
      const walk = this.#fs.walk(path, { signal: this.#signal });
      for await (const entry of walk) {
        if (entry.isFile) bytes += await this.#sizeOf(entry);
      }
    }
    return bytes;
  }

  async #sizeOf(path: string | WalkEntry): Promise<number> {
    try {
      return (await this.#fs.stat(path)).size;
    } catch (error) {
      if (error instanceof RecordfsError) return 0;
      throw error;
    }
  }

  async #extract(path: string): Promise<void> {
    if (await this.#fs.isFile(path)) return await this.#extractOne(path);
    const walk = this.#fs.walk(path, { signal: this.#signal });
    let next = await walk.next(); // finds the directory, or there is none to be made
    await this.#flush();
    this.#target.start(path);
    if (path !== "") this.counts.directories++;
    this.#lostDepth = Infinity;
    for (; !next.done; next = await walk.next()) {
      await this.#addEntry(next.value);
    }
  }

  async #addEntry(entry: WalkEntry): Promise<void> {
    if (entry.isDirectory) await this.#add(entry, 0);
    else await this.#guard(entry, () => this.#addFile(entry));
  }

  /** Extracts a file that was asked for by its path. */
  async #extractOne(path: string): Promise<void> {
    const { ino, size } = await this.#fs.stat(path);
    const kind = { isFile: true, isDirectory: false };
    await this.#addFile({ ...kind, path, name: path, depth: 0, ino }, size);
  }

  async #addFile(entry: WalkEntry, known?: number): Promise<void> {
    const size = known ?? (await this.#fs.stat(entry)).size;
    if (size <= BATCH_BYTES) return await this.#add(entry, size);
    await this.#flush();
    if (this.#isLost(entry)) return;
    this.#target.checkFree(placeOf(entry)); // before much of it is read for nothing
    await this.#stream(entry);
  }

  async #add(entry: WalkEntry, size: number): Promise<void> {
    if (
      this.#batch.length === BATCH_ENTRIES ||
      this.#batchBytes + size > BATCH_BYTES
    ) await this.#flush();
    this.#batch.push(entry);
    this.#batchBytes += size;
  }

  /** Whether an entry lies in a directory that could not be made, which has been reported. */
  #isLost({ depth }: WalkEntry): boolean {
    if (depth <= this.#lostDepth) {
      this.#lostDepth = Infinity;
      return false;
    }
    this.counts.failures++;
    return true;
  }

  async #flush(): Promise<void> {
    const entries = this.#batch.splice(0);
    this.#batchBytes = 0;
    const files = entries.filter(({ isFile }) => isFile);
    let contents: Uint8Array[] = [];
    try {
      contents = await this.#fs.read(files, { signal: this.#signal });
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      // One damaged file fails a batch: below, each is read on its own.
    }
    let file = 0;
    for (const entry of entries) {
      this.#signal.throwIfAborted();
      const content = entry.isFile ? contents[file++] : undefined;
      if (this.#isLost(entry)) continue;
      await this.#guard(entry, async () => {
        if (entry.isDirectory) return this.#makeDirectory(entry);
        const bytes = content ?? await this.#fs.read(entry);
        this.#target.write(placeOf(entry), bytes);
        this.counts.files++;
        this.counts.bytes += bytes.length;
        this.#count(bytes);
      });
    }
  }

  #makeDirectory(entry: WalkEntry): void {
    this.#lostDepth = entry.depth; // unless it is made
    this.#target.makeDirectory(placeOf(entry));
    this.counts.directories++;
    this.#lostDepth = Infinity;
  }

  async #stream(entry: WalkEntry): Promise<void> {
    const content = await this.#fs.stream(entry, { signal: this.#signal });
    const before = this.#done;
    await this.#target.writeStream(placeOf(entry), this.#counting(content));
    this.counts.files++;
    this.counts.bytes += this.#done - before;
  }

  async *#counting(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      yield chunk;
      this.#count(chunk);
    }
  }

  #count({ length }: Uint8Array): void {
    this.#progress?.update(this.#done += length);
  }

  /** Reports what concerns one file and goes on; anything else ends the extraction. */
  async #guard(
    place: string | WalkEntry,
    work: () => Promise<void> | void,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RecordfsError) || ENDS_ALL.has(error.code)) {
        throw error;
      }
      this.counts.failures++;
      const path = typeof place === "string" ? place : place.path;
      const { code } = error;
      const text = inFlags(error.message);
      const message = error.path === undefined ? `${path}: ${text}` : text;
      this.#onFailure({ path, code, message });
    }
  }
}

/** What was asked for by its path, or by a glob, is no entry of the walk before it. */
function placeOf(entry: WalkEntry): string | WalkEntry {
  return entry.depth === 0 ? entry.path : entry;
}
