import { FormatError } from "../base/errors.ts";
import { messageOf } from "../base/message_text.ts";
import { runAsync } from "../io/concurrency/steps.ts";
import {
  typeOfExtension,
  type ValueType,
} from "../codecs/values/value_type.ts";
import { unshownSamples } from "../data/trees/chosen_samples.ts";
import { CheckRun } from "../tree/check/check_run.ts";
import type { CheckOptions, CheckReport } from "../tree/format.ts";
import { whenLoaded } from "../tree/not_loaded.ts";
import { PrefixTree } from "../tree/trees/prefix_tree.ts";
import type { SampleRuns } from "../tree/sample_runs.ts";
import { samplesOf } from "../tree/samples_of.ts";
import { newExtent, type NodeId, ROOT } from "../tree/tree.ts";
import { decodeValue } from "../tree/node_view.ts";
import { findNode } from "../tree/vfs/paths.ts";
import { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../tree/vfs/walk.ts";

/**
 * Checks the samples that a container shows by reading their files, which verifies those with checksums. Reports what
 * opening found damaged, too. With `values`, also decodes values and pictures, except pickles.
 *
 * @param path Directory to check, of several containers.
 */
export async function checkShown(
  shown: VirtualFs,
  path: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const fs = new VirtualFs(shown.location, shown, true);
  const run = new CheckRun(options);
  const { signal } = run;
  const node = await runAsync(findNode(fs.tree, path), signal);
  if (node === 0) return run.report({ samples: 0 }); // none of its samples is chosen
  run.total = await sizeBelow(fs, path, signal);
  if (path === "") reportUnshown(fs, run);
  const samples = await samplesOf(fs.tree);
  const checker = new FileChecker(fs, run, samples);
  const onDamage = (error: FormatError) => run.damage(error);
  for await (const entry of fs.walk(path, { signal, onDamage })) {
    if (entry.isFile) await run.part(() => checker.check(entry));
  }
  checker.warnOfSkipped();
  run.total = run.done;
  return run.report({
    samples: await countBelow(fs, node),
    ...fs.subset === undefined ? {} : { of: fs.subset.of },
    compares: checker.areCompared ? "contents" : "structure",
    ...options.values ? { pictures: checker.pictures } : {},
  });
}

async function countBelow(fs: VirtualFs, node: number): Promise<number> {
  if (node === ROOT && fs.subset !== undefined) {
    return fs.subset.indices.length;
  }
  const tree = node === ROOT ? fs.tree : new PrefixTree(fs.tree, node);
  return (await samplesOf(tree)).length;
}

/** Returns the size of the files to read. Damage is reported later, when they are read. */
async function sizeBelow(
  fs: VirtualFs,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let bytes = 0;
  for await (const entry of fs.walk(path, { signal, onDamage() {} })) {
    if (!entry.isFile) continue;
    try {
      bytes += (await fs.stat(entry, { signal })).size;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
    }
  }
  return bytes;
}

/** Reports parts of the container in which nothing can be found, and chosen samples that it does not show. */
function reportUnshown(fs: VirtualFs, run: CheckRun): void {
  for (const { name, code, archive, message } of fs.info.unreadable ?? []) {
    if (name !== "") continue; // found when it is read, if it is chosen
    run.damage(new FormatError(code, message, { path: archive }));
  }
  for (const sample of unshownSamples(fs)) {
    run.damage(
      new FormatError(
        "bad-structure",
        `Cannot read sample ${sample} of ${fs.location}: it was damaged when the container was opened, and is skipped`,
        { path: fs.location, sample },
      ),
    );
  }
}

/** Reads files, and counts what else was done with them. */
class FileChecker {
  /** Whether each file of a sample had a checksum, or was decoded. */
  areCompared = true;
  pictures = 0;
  readonly #fs: VirtualFs;
  readonly #run: CheckRun;
  readonly #samples: SampleRuns;
  readonly #extent = newExtent();
  #skipped = 0;

  constructor(fs: VirtualFs, run: CheckRun, samples: SampleRuns) {
    this.#fs = fs;
    this.#run = run;
    this.#samples = samples;
  }

  async check(entry: WalkEntry): Promise<void> {
    const { tree } = this.#fs;
    const { signal, options } = this.#run;
    const locate = () => tree.locate(entry.ino, this.#extent);
    await this.#run.run(whenLoaded(locate));
    const { checksumKind, length } = this.#extent;
    const type = options.values ? await this.#decodedType(entry) : undefined;
    const isPlain = type?.decoding === "bytes"; // all bytes are such values
    const isDecoded = type !== undefined && !isPlain && length <= type.largest;
    if (type !== undefined && !isPlain && !isDecoded) this.#skipped++;
    const isCompared = checksumKind !== undefined || isDecoded || isPlain;
    if (!isCompared && this.#isOfSample(entry.ino)) this.areCompared = false;
    if (isDecoded) {
      const bytes = await this.#fs.read(entry, { signal });
      this.#advance(bytes.length);
      await this.#decode(entry, bytes as Uint8Array<ArrayBuffer>, type);
      return;
    }
    for await (const piece of await this.#fs.stream(entry, { signal })) {
      this.#advance(piece.length);
    }
  }

  warnOfSkipped(): void {
    if (this.#skipped === 0) return;
    this.#run.warn(
      `${this.#fs.location}: ${this.#skipped} values were not decoded, because they are too large`,
    );
  }

  /** Whether a file is a sample, or in the directory of one; `spec.json` is not. */
  #isOfSample(file: NodeId): boolean {
    const { tree } = this.#fs;
    for (let node = file; node !== ROOT; node = tree.parent(node)) {
      if (this.#samples.indexOf(node) >= 0) return true;
    }
    return false;
  }

  #advance(bytes: number): void {
    this.#run.advance(bytes);
  }

  /** Returns the type by which a file is decoded: that of its value, or of a picture's name; `undefined` for others. */
  async #decodedType({ ino, path }: WalkEntry): Promise<ValueType | undefined> {
    const { tree } = this.#fs;
    const view = await this.#run.run(whenLoaded(() => tree.view?.(ino)));
    if (view?.kind !== "value") {
      const type = typeOfExtension(path);
      return type.decoding === "image" ? type : undefined;
    }
    if (view.isNull?.()) return undefined;
    const { decoding } = view.type;
    // Pickles may be of classes that are not known here.
    return decoding === "pickle" ? undefined : view.type;
  }

  async #decode(
    { path: member }: WalkEntry,
    bytes: Uint8Array<ArrayBuffer>,
    type: ValueType,
  ): Promise<void> {
    if (type.decoding === "image") this.pictures++;
    try {
      await decodeValue(bytes, type);
    } catch (cause) {
      const { location } = this.#fs;
      throw new FormatError(
        "bad-value",
        `Cannot decode '${member}' of ${location}: ${messageOf(cause)}`,
        { path: location, member, cause },
      );
    }
  }
}
