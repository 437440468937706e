import { FormatError, RecordfsError } from "../../../base/errors.ts";
import type { ExtractTarget } from "../../../io/unpack/extract_target.ts";
import type { RefusedFile } from "../../../io/unpack/file_group.ts";
import {
  type FileBatchPlacer,
  FilePlacer,
} from "../../../io/unpack/file_placer.ts";
import { isMade } from "../../../io/storage/made_source.ts";
import { newExtent, type NodeId, type Tree } from "../../../tree/tree.ts";
import { type FileBatch, readAhead } from "../../../tree/vfs/read_ahead.ts";
import { contentPieces } from "../../../tree/vfs/read_files.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../../../tree/vfs/walk.ts";
import { flagMessageOf } from "../../flag_words.ts";
import {
  type ChosenGlob,
  chosenPaths,
  isWithin,
  matching,
  nothingMatches,
  withoutOverlap,
} from "../../input/chosen_paths.ts";
import { formatBytes } from "../../terminal/amounts.ts";
import { Progress, Rate } from "../../terminal/progress.ts";
import { finishDirectory, timeOf } from "./finish_directory.ts";

/** A failed extraction, as printed by `--json`. */
export interface Failure {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** Error codes that every further file would cause too. */
const ENDS_ALL = new Set(
  ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"],
);

/** Number of files above which progress counts files, and another thread helps from the start. */
const MANY_FILES = 1000;

export class Extraction implements AsyncDisposable {
  readonly #fs: VirtualFs;
  readonly #target: ExtractTarget;
  readonly #onFailure: (failure: Failure) => void;
  readonly #signal: AbortSignal;
  #progress: Progress | undefined;
  readonly #rate = new Rate();
  /** Depth of a directory that could not be created, so that nothing in it can be. */
  #lostDepth = Infinity;
  #done = 0;
  readonly #placer: FilePlacer;
  /**
   * Totals of what was extracted, with directories of the container or below the requested paths; and the numbers of
   * files and directories that failed, each of which has been reported.
   */
  readonly counts = {
    files: 0,
    directories: 0,
    links: 0,
    bytes: 0,
    failures: 0,
    /** Failures caused by the container; the others are caused by the target. */
    damaged: 0,
  };
  /** Extracted directories to finish at the end, with their links. */
  readonly #unfinished: string[] = [];

  constructor(
    fs: VirtualFs,
    target: ExtractTarget,
    onFailure: (failure: Failure) => void,
    signal: AbortSignal,
  ) {
    this.#fs = fs;
    this.#target = target;
    this.#placer = new FilePlacer(target);
    this.#onFailure = onFailure;
    this.#signal = signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#placer[Symbol.asyncDispose]();
  }

  /** Extracts what paths and globs select; everything if there are none. */
  async run(paths: readonly string[]): Promise<void> {
    const chosen = await chosenPaths(this.#fs, paths);
    const globs = chosen.filter((one) => typeof one === "object");
    const names = chosen.filter((one) => typeof one === "string");
    const wanted = paths.length === 0 ? [""] : withoutOverlap(names);
    const { info, subset } = this.#fs;
    // Of some samples, the number of files is not known.
    const files = subset === undefined ? info.files : undefined;
    const hasMany = wanted[0] === "" && (files ?? info.files) > MANY_FILES;
    if (hasMany) this.#placer.expectMany();
    // Measuring each of many files would take too long.
    using progress = hasMany
      ? new Progress("extracting", "files", files)
      : new Progress(
        "extracting",
        "bytes",
        Progress.shown && globs.length === 0
          ? await this.#measure(wanted)
          : undefined,
      );
    this.#progress = progress;
    for (const path of wanted) {
      await this.#guard(path, () => this.#extract(path));
    }
    if (globs.length > 0) await this.#extractMatching(globs, wanted);
    for (const path of this.#unfinished) {
      await finishDirectory(this.#fs, path, {
        target: this.#target,
        signal: this.#signal,
        onLink: () => void this.counts.links++,
        onFailure: (path, error) => this.#fail(path, error),
      });
    }
  }

  /** Extracts what globs match, except what is already extracted. */
  async #extractMatching(
    globs: readonly ChosenGlob[],
    before: readonly string[],
  ): Promise<void> {
    const done = new Set(before);
    const entries = matching(this.#fs, globs, true, this.#signal);
    await this.#copy(async function* () {
      for await (const entry of entries) {
        if (done.size > 0 && isWithin(entry.path, done)) continue;
        yield { ...entry, depth: 0 };
      }
    }());
    for (const glob of globs) {
      if (glob.found) continue;
      const error = nothingMatches(this.#fs.location, glob);
      await this.#guard(glob.text, () => Promise.reject(error));
    }
  }

  /** Returns the total size to extract. Errors of a path are reported later, when it is extracted. */
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
    if (await this.#fs.isFile(path)) {
      const { ino } = await this.#fs.stat(path);
      const kind = { isFile: true, isDirectory: false };
      return await this.#copy(
        ReadableStream.from([{ ...kind, path, name: path, depth: 0, ino }]),
      );
    }
    const walk = this.#fs.walk(path, {
      signal: this.#signal,
      onDamage: (error, at) => this.#fail(at, error),
    });
    const first = await walk.next(); // throws if the directory does not exist, before creating it
    this.#target.start(path);
    if (path !== "") this.counts.directories++;
    const { tree } = this.#fs;
    await this.#copy(async function* () {
      if (first.done) return;
      const isNoLink = ({ ino }: WalkEntry) => tree.isLink?.(ino) !== true;
      if (isNoLink(first.value)) yield first.value;
      for await (const entry of walk) if (isNoLink(entry)) yield entry;
    }());
    this.#unfinished.push(path);
  }

  async #copy(walk: AsyncIterable<WalkEntry>): Promise<void> {
    this.#lostDepth = Infinity;
    const options = { signal: this.#signal, rooms: this.#placer.rooms };
    for await (const batch of readAhead(this.#fs, walk, options)) {
      await this.#write(batch);
    }
    await this.#placer.complete();
  }

  async #write(batch: FileBatch): Promise<void> {
    const { entries, contents, isLarge } = batch;
    const read = await contents.catch((error) => {
      if (error instanceof FormatError) return undefined;
      throw error;
    });
    const placing = this.#placer.start();
    let file = 0;
    try {
      for (const entry of entries) {
        this.#signal.throwIfAborted();
        // One damaged file fails the whole batch; then read each file separately.
        const content = entry.isFile ? read?.[file++] : undefined;
        if (this.#isLost(entry)) continue;
        try { // not #guard, which would await each of many files
          if (entry.isDirectory) this.#makeDirectory(entry);
          else if (isLarge) await this.#stream(entry);
          else {
            const bytes = content ?? await this.#fs.read(entry);
            this.#place(placing, entry, bytes);
          }
        } catch (error) {
          this.#fail(entry, error);
        }
      }
    } finally {
      batch.until = placing.end((file) => this.#refuse(file));
    }
    this.#tell();
  }

  #place(placing: FileBatchPlacer, file: WalkEntry, bytes: Uint8Array): void {
    const mtime = timeOf(this.#fs.tree, file.ino);
    placing.write(placeOf(file), bytes, mtime);
    this.counts.files++;
    this.counts.bytes += bytes.length;
    this.#done += bytes.length;
  }

  #refuse({ path, bytes, error }: RefusedFile): void {
    this.counts.files--;
    this.counts.bytes -= bytes;
    this.#fail(path, error);
  }

  /** Whether an entry lies in a directory that could not be created, which has been reported. */
  #isLost({ depth }: WalkEntry): boolean {
    if (depth <= this.#lostDepth) {
      this.#lostDepth = Infinity;
      return false;
    }
    this.counts.failures++;
    return true;
  }

  #makeDirectory(entry: WalkEntry): void {
    this.#lostDepth = entry.depth; // until it is created
    this.#target.makeDirectory(placeOf(entry));
    this.counts.directories++;
    this.#lostDepth = Infinity;
  }

  async #stream(entry: WalkEntry): Promise<void> {
    this.#target.checkFree(placeOf(entry)); // before reading much of it in vain
    const { path, ino } = entry;
    const content = contentPieces(this.#fs, ino, path, this.#signal);
    const before = this.#done;
    await this.#target.writeStream(
      placeOf(entry),
      this.#counting(content),
      timeOf(this.#fs.tree, ino),
      hasHoles(this.#fs.tree, ino),
    );
    this.counts.files++;
    this.counts.bytes += this.#done - before;
  }

  async *#counting(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      yield chunk;
      this.#done += chunk.length;
      this.#tell();
    }
  }

  #tell(): void {
    const progress = this.#progress;
    if (progress === undefined || !Progress.shown) return;
    this.#rate.note(this.#done);
    if (progress.unit === "bytes") progress.update(this.#done);
    else {
      const { files } = this.counts;
      const pace = `${formatBytes(this.#rate.perSecond)}/s`;
      progress.update(files, undefined, pace);
    }
  }

  /** Runs work on one file or directory. Reports its error and continues, unless the error concerns everything. */
  async #guard(
    place: string | WalkEntry,
    work: () => Promise<void> | void,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fail(place, error);
    }
  }

  #fail(place: string | WalkEntry, error: unknown): void {
    if (!(error instanceof RecordfsError) || ENDS_ALL.has(error.code)) {
      throw error;
    }
    this.counts.failures++;
    if (error instanceof FormatError) this.counts.damaged++;
    const path = typeof place === "string" ? place : place.path;
    const { code } = error;
    const text = flagMessageOf(error);
    const message = error.path === undefined ? `${path}: ${text}` : text;
    this.#onFailure({ path, code, message });
  }
}

/** Requested paths and glob matches, at depth 0, do not continue the walk before: the target gets their paths. */
function placeOf(entry: WalkEntry): string | WalkEntry {
  return entry.depth === 0 ? entry.path : entry;
}

/** Whether the container records holes of a file. */
function hasHoles(tree: Tree, node: NodeId): boolean {
  const extent = newExtent();
  try {
    tree.locate(node, extent);
  } catch (error) {
    if (error instanceof RecordfsError) return false; // reading the file reports the error
    throw error;
  }
  const source = tree.sources.at(extent.source);
  return source !== undefined && isMade(source) && source.holes !== undefined;
}
