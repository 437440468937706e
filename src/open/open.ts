import { FormatError } from "../base/errors.ts";
import { loadFormat } from "../formats/registry.ts";
import { runAsync, type Steps } from "../io/concurrency/steps.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";
import type {
  CheckOptions,
  CheckReport,
  ContainerOptions,
} from "../tree/format.ts";
import { closeLayers } from "../io/storage/layered_storage.ts";
import { LOCAL_DISK } from "../io/storage/storage.ts";
import { isDamage, isShardDamage } from "../tree/samples/open_shards.ts";
import { findContainer, otherFormat } from "./find_format.ts";
import {
  areSeveral,
  type ContainerLocation,
  placeOf,
  type SeveralLocations,
} from "./location.ts";
import { openShown } from "./open_shown.ts";
import { explained, explainedNow } from "./other_content.ts";
import { VirtualFs } from "../tree/vfs/virtual_fs.ts";

/** Options of {@linkcode open}. */
export interface OpenContainerOptions extends ContainerOptions {
  /** Opens only this directory of the container, as its root. */
  readonly prefix?: string | undefined;
  /**
   * Whether containers in the opened directory or container appear as directories, at any depth up to 8, each opened when
   * it is first listed; or the suffixes of the files that do, such as `[".tar", ".npz"]`. By default these are the
   * suffixes of archives and datasets. A compression may follow each. Directories that are datasets are shown, too. One
   * that cannot be opened fails when it is listed. Defaults to `false`.
   */
  readonly nested?: boolean | readonly string[] | undefined;
  /** Whether nested containers appear without their suffixes, unless another entry has that name. Defaults to `false`. */
  readonly stripSuffix?: boolean | undefined;
}

/**
 * Opens a container of any format as a virtual filesystem, or several as one, each below its own path.
 *
 * @param location A file or directory; a container's bytes, or those of its files by name; or several containers, each
 * optionally with its own path and options.
 * @throws {FormatError} If it is not a known container, or is damaged.
 * @throws {PlacementError} If two would have the same path, or one would be inside another.
 * @throws {PathError} If the option `prefix` does not name a directory.
 *
 * @example List and read
 * ```ts
 * import { open } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using fs = await open("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * assert.ok((await fs.list("/")).includes("words"));
 * assert.ok(await fs.isFile("..."));
 * assert.equal((await fs.read("...")).length, 28);
 * ```
 *
 * @example Several, in one tree
 * ```ts
 * import { open } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * using fs = await open([
 *   "test/golden/ffrecord/packed_tree/sample_10.ffr",
 *   { location: "test/golden/ffrecord/packed_tree/sample_10.ffr", path: "again/packed" },
 * ]);
 * assert.deepEqual(await fs.list("/"), ["sample_10", "again"]);
 * assert.deepEqual(await fs.read("again/packed/..."), await fs.read("sample_10/..."));
 * ```
 */
export async function open(
  location: ContainerLocation | SeveralLocations,
  options: OpenContainerOptions & WaitOptions = {},
): Promise<VirtualFs> {
  const openAll = areSeveral(location) || options.prefix !== undefined
    ? (await import("./open_several.ts")).openAll
    : openAlone;
  return await runAsync(openAll(location, options), options.signal);
}

/** Opens one whole container as a virtual filesystem, without loading the module that opens several. */
export function* openAlone(
  location: ContainerLocation | SeveralLocations,
  options: OpenContainerOptions,
): Steps<VirtualFs> {
  const place = placeOf(location as ContainerLocation, options);
  const container = yield* openShown(place.path, place.options);
  return new VirtualFs(place.path, container, options.checkData ?? true);
}

/** Damage that a report lists, at most. */
const MOST_LISTED = 1000;

/**
 * Verifies every checksum of a container; with `values`, also decodes values and pictures.
 *
 * @returns A report; without `onDamage`, with the first 1,000 damaged locations as `damage`.
 * @throws {FormatError} If it can't be opened at all.
 * @throws {IndexError} If the option `subset` has the index of a sample that does not exist.
 * @throws {DataError} If the option `subset` names an index file that does not fit the container.
 *
 * @example Is it sound?
 * ```ts
 * import { check } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * const { samples, damage } = await check("test/golden/ffrecord/packed_tree/sample_10.ffr");
 * assert.deepEqual(damage, []);
 * console.log(samples, "samples, all sound");
 * ```
 */
export async function check(
  location: ContainerLocation,
  options: Partial<CheckOptions> & {
    /**
     * Samples to check: their indices, or the location of an index file, as `recordfs split` writes it. Only their files
     * are read; damage that opening finds is reported, too. An index file is refused if it indexes other samples.
     * Defaults to the whole container.
     */
    readonly subset?: Iterable<number> | string | URL | undefined;
  } = {},
): Promise<CheckReport> {
  const { onDamage } = options;
  if (onDamage !== undefined) {
    return await checkAll(location, { ...options, onDamage });
  }
  const damage: FormatError[] = [];
  const report = await checkAll(location, {
    ...options,
    onDamage(found) {
      if (damage.length < MOST_LISTED) damage.push(found);
    },
  });
  return { ...report, damage };
}

type Subset = Iterable<number> | string | URL;

async function checkAll(
  location: ContainerLocation,
  { subset, ...options }: CheckOptions & {
    readonly subset?: Subset | undefined;
  },
): Promise<CheckReport> {
  const { path, options: own } = placeOf(location, options);
  const { storage = LOCAL_DISK, signal } = own;
  let other: FormatError | undefined;
  let layered = storage;
  let isFound = false;
  try {
    const found = await runAsync(findContainer(path, own), signal);
    layered = found.options.storage;
    isFound = true;
    const format = await loadFormat(found.format);
    const stored = { ...own, storage: layered };
    const seen = new Set<string>();
    other = await runAsync(otherFormat(found.path, stored), signal);
    const onDamage = (damage: FormatError) => {
      if (other !== undefined) throw other;
      own.onDamage(explainedNow(damage, layered, seen));
    };
    if (subset !== undefined) {
      return await checkSubset(path, subset, { ...own, onDamage });
    }
    const report = await format.check?.(found.path, { ...stored, onDamage }) ??
      await checkByReading(path, { ...own, onDamage });
    if (!own.values) return report;
    const { checkPictures } = await import("./check_pictures.ts");
    const quiet = { ...own, checkData: false, onWarning() {} };
    let fs: VirtualFs;
    try {
      fs = await open(location, quiet);
    } catch (error) {
      // All shards are damaged, and have been reported.
      if (isShardDamage(error) && report.damaged > 0) return report;
      throw error;
    }
    using opened = fs;
    const { pictures, damaged } = await checkPictures(opened, {
      ...own,
      onDamage,
    });
    return { ...report, pictures, damaged: report.damaged + damaged };
  } catch (error) {
    if (other !== undefined && error instanceof FormatError) throw other;
    throw await runAsync(explained(error, layered, isFound), signal);
  } finally {
    closeLayers(layered, storage);
  }
}

async function checkSubset(
  path: string,
  subset: Subset,
  options: CheckOptions,
): Promise<CheckReport> {
  const [{ onlyChosen }, { checkShown }] = await Promise.all([
    import("../data/trees/chosen_samples.ts"),
    import("./check_shown.ts"),
  ]);
  const { signal } = options;
  const whole = await open(path, { ...options, checkData: true });
  using fs = await onlyChosen(whole, subset, { signal });
  return await checkShown(fs, "", options);
}

async function checkByReading(
  path: string,
  options: CheckOptions,
): Promise<CheckReport> {
  const { checkFiles } = await import("./check_files.ts");
  let fs: VirtualFs;
  try {
    fs = await open(path, { ...options, checkData: true });
  } catch (error) {
    if (!isDamage(error)) throw error;
    options.onDamage(error);
    return { samples: 0, bytes: 0, damaged: 1 };
  }
  using opened = fs;
  return await checkFiles(opened, options);
}
