/** Damaged bags and datasets on real mounts: opening fails, or only the damaged values fail to read. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { FormatError, mount } from "../../../mod.ts";
import { type MountContainerOptions } from "../../../fuse/mount_container.ts";
import {
  isMounted,
  namesIn,
  withMountPlace,
} from "../../cli/mount/mount_place.ts";
import { withMountpoint } from "../../fuse/support/mounting.ts";
import { decoders } from "../../support/bags/bag_decoders.ts";
import {
  assertBytes,
  assertValue,
  type BagCase,
  bagCases,
  type DatasetCase,
  datasetCases,
} from "../../support/bags/bag_golden.ts";
import { numberName } from "../../support/bags/bag_trees.ts";
import { naiveBag } from "../../support/bags/naive_bags.ts";
import { LONG } from "../../support/long.ts";
import { needs } from "../../support/programs/programs.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Result of a file or list that cannot be read. */
const DAMAGED = "EIO";

/**
 * Timeout of a mount that does not respond, in milliseconds: it is then unmounted by force, which ends pending reads.
 */
const LONGEST_MS = 180_000;

const damaged = [...bagCases, ...datasetCases].filter(({ valid }) => !valid);

/** Whether opening detects the damage, without reading values. */
function isRefused({ name, expected }: BagCase | DatasetCase): boolean {
  return expected.outcome === "error" || name.endsWith("bad_missing_idx");
}

/**
 * Chooses the first case of each outcome per set. `deno task test:all` runs every case. Tests without a mount cover the
 * tree's behaviour for all cases; a mount only passes it on.
 */
function chosen<T extends BagCase | DatasetCase>(cases: readonly T[]): T[] {
  const seen = new Set<string>();
  return cases.filter(({ name, expected }) => {
    const kind = `${name.split("/")[0]} ${expected.outcome}`;
    return LONG || seen.size < seen.add(kind).size;
  });
}

/** Mounts a damaged container while `body` runs. */
async function mounted(
  { path, name }: BagCase | DatasetCase,
  options: MountContainerOptions,
  body: (mountpoint: string) => Promise<void>,
): Promise<void> {
  await withMountpoint(async (mountpoint) => {
    await using made = await mount(path, mountpoint, options);
    const timer = setTimeout(() => made.unmount({ force: true }), LONGEST_MS);
    try {
      const root = await namesIn(mountpoint);
      await body(mountpoint);
      assert.deepEqual(await namesIn(mountpoint), root, `${name} is served on`);
    } finally {
      clearTimeout(timer);
    }
  });
}

/** Returns what `read` returns, or `DAMAGED` if it fails with EIO. */
async function orDamaged<T>(
  read: () => Promise<T>,
): Promise<T | typeof DAMAGED> {
  try {
    return await read();
  } catch (error) {
    assert.equal((error as { code?: unknown }).code, DAMAGED, String(error));
    return DAMAGED;
  }
}

/** Reads a whole file, and compares its length with its size. */
function contentOf(path: string): Promise<Bytes | typeof DAMAGED> {
  return orDamaged(async () => {
    const bytes = new Uint8Array(await readFile(path));
    assert.equal((await stat(path)).size, bytes.length);
    return bytes;
  });
}

Deno.test("there are damaged bags and datasets of every kind", () => {
  const refused = damaged.filter(isRefused);
  const sets = new Set(damaged.map(({ name }) => name.split("/")[0]));
  assert.deepEqual([...sets], ["bag", "granular3", "bags", "granular"]);
  assert.ok(refused.length > 20 && damaged.length - refused.length > 20);
});

for (const golden of chosen(damaged.filter(isRefused))) {
  Deno.test({
    name: `${golden.name}: a mount is refused`,
    ...needs("fuse"),
    fn: () =>
      withMountpoint(async (mountpoint) => {
        const { path, expected } = golden;
        await assert.rejects(mount(path, mountpoint), (error: unknown) => {
          assert.ok(error instanceof FormatError, String(error));
          assert.ok(error.message.includes(expected.words), error.message);
          assert.ok(error.message.includes(path), error.message);
          return true;
        });
        assert.equal(await isMounted(mountpoint), false);
        assert.deepEqual(await namesIn(mountpoint), []);
      }),
  });
}

/** One case of each set for the command, which opens containers like the API. */
const COMMANDED = [
  "bag/bad_truncated_records",
  "bags/bad_spec_path",
  "granular/bad_shard_gap",
  "granular3/bad_missing_idx",
];

Deno.test({
  name: "recordfs mount reports in one line why it fails, and leaves nothing",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ mountpoint, recordfs, listed }) => {
      for (const name of COMMANDED) {
        const { path, expected } = damaged.find((one) => one.name === name)!;
        const { code, stdout, stderr } = await recordfs(
          ...["mount", path, mountpoint],
        );
        assert.deepEqual([code, stdout], [1, ""], name);
        assert.ok(stderr.includes(expected.words), stderr);
        assert.ok(stderr.includes(path), stderr);
        assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
        assert.equal(await isMounted(mountpoint), false);
        assert.equal(await listed(), undefined);
      }
    }),
});

for (const golden of chosen(damaged.filter((one) => !isRefused(one)))) {
  Deno.test({
    name: `${golden.name}: mounted, the damage is where it is`,
    ...needs("fuse"),
    async fn() {
      const told: string[] = [];
      const tell = (message: string) => told.push(message);
      const options = { decoded: true, onLog: tell, onWarning: tell };
      await mounted(golden, options, async (mountpoint) => {
        if (golden.kind === "bag") await assertBag(golden, mountpoint);
        else await assertDataset(golden, mountpoint);
      });
      const isTold = golden.expected.outcome !== "error-or-ok" &&
        !golden.name.endsWith("utf8"); // a mount does not decode UTF-8
      const { words } = golden.expected;
      assert.equal(
        told.some((line) => line.includes(words)),
        isTold,
        `${told}`,
      );
    },
  });
}

async function assertBag(golden: BagCase, mountpoint: string): Promise<void> {
  const expected = recordsOf(golden);
  const names = expected.map((_, i) => numberName(i));
  assert.deepEqual(await namesIn(mountpoint), names);
  for (const [i, assertRecord] of expected.entries()) {
    const content = await contentOf(`${mountpoint}/${names[i]}`);
    if (assertRecord === undefined) assert.equal(content, DAMAGED, names[i]);
    else assertRecord(content);
  }
}

/** Returns an assertion for each record of a bag, or `undefined` for a damaged record. */
function recordsOf(
  { name, path, content }: BagCase,
): (((bytes: unknown) => void) | undefined)[] {
  if (name.endsWith("bad_no_bytes")) return []; // detected as generation 2, without records
  if (content === undefined) {
    return soundRecords(path).map((record) =>
      record && ((bytes) => assert.deepEqual(bytes, record))
    );
  }
  const records = content.records.map((record) =>
    record.error === undefined
      ? (bytes: unknown) => assertBytes(bytes, record)
      : undefined
  );
  if (!name.endsWith("bad_first_limit")) return records;
  // Read as generation 2, the bag has one more record: the bytes before the first limit.
  const asSecond = naiveBag(path, 2).slice(0, 2).map(
    (record) => (bytes: unknown) => assert.deepEqual(bytes, record),
  );
  return [...asSecond, ...records.slice(1)];
}

/** Returns the records of a bag of generation 3, or `undefined` where a limit is out of order or range. */
function soundRecords(path: string): (Bytes | undefined)[] {
  const bytes = fs.readFileSync(path);
  const index = fs.readFileSync(path.replace(/\.bag$/, ".idx"));
  const records: (Bytes | undefined)[] = [];
  let start = 0;
  let furthest = 0;
  for (let at = 0; at + 8 <= index.length; at += 8) {
    const end = Number(index.readBigUInt64LE(at));
    const isSound = start >= furthest && end >= start && end <= bytes.length;
    records.push(
      isSound ? new Uint8Array(bytes.subarray(start, end)) : undefined,
    );
    if (end <= bytes.length) furthest = Math.max(furthest, end);
    start = end;
  }
  return records;
}

/** What was read for a value: its bytes, or a list of them, or `DAMAGED`. */
type Found = Bytes | typeof DAMAGED | Found[];

async function assertDataset(
  { content, name }: DatasetCase,
  mountpoint: string,
): Promise<void> {
  const { spec, datapoints, length } = content!;
  const names = Array.from({ length }, (_, i) => numberName(i));
  assert.deepEqual(await namesIn(mountpoint), ["spec.json", ...names]);
  for (const [i, datapoint] of datapoints!.entries()) {
    const directory = `${mountpoint}/${names[i]}`;
    const listed = await namesIn(directory);
    assert.deepEqual(
      listed.filter((file) => Object.hasOwn(spec, file)),
      Object.keys(spec),
    );
    const found: Record<string, Found> = {};
    for (const key of Object.keys(spec)) {
      found[key] = await findValue(`${directory}/${key}`, spec[key]!);
    }
    const { error } = datapoint as { readonly error?: unknown };
    if (typeof error !== "string") {
      for (const key in found) {
        assertValue(decode(found[key]!, spec[key]!), datapoint[key]);
      }
    } else if (error === "bad-value") {
      assert.throws(() => {
        for (const key in found) decode(found[key]!, spec[key]!);
      }, /not UTF-8/);
    } else {
      assert.ok(Object.values(found).includes(DAMAGED), `${name}, ${i}`);
      assertOwn(found, spec, i);
    }
  }
}

/** Reads a value and its decoded view, which must fail if and only if the value does. */
async function findValue(path: string, type: string): Promise<Found> {
  if (!type.endsWith("[]")) return await findFile(path, type);
  const files = await orDamaged(() => namesIn(path));
  if (files === DAMAGED) return DAMAGED;
  const found: Found[] = [];
  for (const file of files.filter((file) => /^\d+$/.test(file))) {
    found.push(await findFile(`${path}/${file}`, type.slice(0, -2)));
  }
  assert.equal(files.length, 2 * found.length);
  return found;
}

async function findFile(path: string, type: string): Promise<Found> {
  const bytes = await contentOf(path);
  const suffix = type === "utf8" ? ".txt" : ".json";
  const view = await contentOf(path + suffix);
  if (bytes === DAMAGED || type === "utf8") assert.deepEqual(view, bytes);
  else {
    const text = new TextDecoder().decode(view as Bytes);
    assert.deepEqual(JSON.parse(text), decode(bytes, type));
  }
  return bytes;
}

function decode(found: Found, type: string): unknown {
  const [name, ...args] = type.split(/[(),[\]]+/).filter(Boolean);
  if (Array.isArray(found)) return found.map((one) => decode(one, name!));
  assert.notEqual(found, DAMAGED);
  return decoders[name!]!(found as Bytes, ...args);
}

/** Asserts that the readable values of a damaged datapoint belong to it: each value ends in the datapoint's index. */
function assertOwn(
  found: Readonly<Record<string, Found>>,
  spec: Readonly<Record<string, string>>,
  datapoint: number,
): void {
  for (const key in found) {
    if (found[key] === DAMAGED || Array.isArray(found[key])) continue;
    const value = String(decode(found[key]!, spec[key]!));
    assert.ok(value.endsWith(String(datapoint)), `${key} is ${value}`);
  }
}
