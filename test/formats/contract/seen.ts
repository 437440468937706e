/** Content of a container in comparable form, from any storage, read asynchronously and synchronously. */
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import { check, open } from "../../../src/open/open.ts";
import { type ContainerOptions, openSync } from "../../../src/open/mod.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { type WalkEntry } from "../../../src/tree/vfs/walk.ts";
import { outcome, outcomeSync, refused } from "../../support/far_away.ts";
import { FULL } from "../../support/long.ts";
import type { FormatCase } from "./format_case.ts";

/** Number of files read one by one, since each read waits. */
const SINGLE = 12;
/** Number of listed entries: with deep nesting, all paths would take gigabytes. */
const ENTRIES = 400;

/** Ways to use a container, each returning its result. */
export const USES: Readonly<
  Record<
    string,
    (
      format: FormatCase,
      path: string,
      options: ContainerOptions,
    ) => Promise<unknown>
  >
> = {
  tree: (_, path, options) => treeOf(path, options),
  decoded: (_, path, options) => treeOf(path, { ...options, decoded: true }),
  samples: samplesOf,
  check: (_, path, options) => checkOf(path, options),
};

/** Returns the results of all uses of a container, with the warnings. */
export async function seenOf(
  format: FormatCase,
  path: string,
  options: ContainerOptions,
): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const [name, use] of Object.entries(USES)) {
    if (!FULL && name === "decoded") continue;
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const told = { ...options, onWarning };
    const result = await outcome(() => use(format, path, told));
    seen[name] = { result, warnings };
  }
  return seen;
}

async function treeOf(path: string, options: ContainerOptions) {
  using shown = await open(path, options);
  const entries = await entriesOf(shown);
  const files = entries.filter(({ isFile }) => isFile);
  const some = files.slice(0, SINGLE);
  return {
    info: shown.info,
    counted: await outcome(() => countSamples(shown.info)),
    entries,
    names: await shown.list(),
    sizes: await each(files, async (file) => (await shown.stat(file)).size),
    single: await each(some, (file) => shown.read(file.path)),
    batch: await outcome(() => shown.read([...some, ...some.toReversed()])),
    all: await outcome(() => shown.read(files)),
    ranges: await each(some, (file) => shown.readRange(file, 3, 50)),
    streams: await each(some, (file) => streamed(shown, file)),
    missing: await outcome(() => shown.read("no such file")),
  };
}

async function entriesOf(shown: VirtualFs): Promise<WalkEntry[]> {
  const entries: WalkEntry[] = [];
  for await (const entry of shown.walk()) {
    if (entries.push(entry) === ENTRIES) break;
  }
  return entries;
}

async function streamed(shown: VirtualFs, file: WalkEntry) {
  const stream = await shown.stream(file);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function samplesOf(
  format: FormatCase,
  path: string,
  options: ContainerOptions,
): Promise<unknown> {
  using dataset = await format.openDataset(path, options);
  const { length } = dataset;
  const some = [...Array(length).keys()].slice(0, SINGLE);
  return {
    length,
    shards: dataset.shardLengths,
    fileOf: [0, length - 1, length].map((i) => dataset.fileOf(i)),
    single: await each([...some, length], (i) => dataset.get([i])),
    batch: await outcome(() => dataset.get([...some.toReversed(), ...some])),
    all: await outcome(() => dataset.get([...Array(length).keys()])),
  };
}

async function checkOf(path: string, options: ContainerOptions) {
  const damages: unknown[] = [];
  let last: unknown;
  const report = await outcome(() =>
    check(path, {
      ...options,
      values: true,
      onDamage: (damage) => void damages.push(refused(damage)),
      onProgress: (...progress) => last = progress,
    })
  );
  return { report, damages, last };
}

async function each<T>(
  items: readonly T[],
  call: (item: T) => unknown,
): Promise<unknown[]> {
  return await Promise.all(items.map((item) => outcome(() => call(item))));
}

/** Returns the results of synchronous uses of a container. */
export function seenNow(path: string, options: ContainerOptions): unknown {
  return outcomeSync(() => {
    using shown = openSync(path, options);
    const entries = [...shown.walkSync().take(ENTRIES)];
    const files = entries.filter(({ isFile }) => isFile);
    return {
      entries,
      names: shown.listSync(),
      sizes: files.map((file) => outcomeSync(() => shown.statSync(file).size)),
      single: files.slice(0, SINGLE).map((file) =>
        outcomeSync(() => shown.readSync(file.path))
      ),
      all: outcomeSync(() => shown.readSync(files)),
    };
  });
}

/** Selects the part of {@linkcode seenOf} that is available synchronously. */
export function withoutWaiting(seen: Record<string, unknown>): unknown {
  const { result } = seen["tree"] as { result: Record<string, unknown> };
  if (!("entries" in result)) return result;
  const { entries, names, sizes, single, all } = result;
  return { entries, names, sizes, single, all };
}
