/** Containers as trees: walking, listing and reading in every way must agree. */
import { check, open } from "../../../src/open/open.ts";
import { openSync } from "../../../src/open/mod.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { type WalkEntry } from "../../../src/tree/vfs/walk.ts";
import { digestOf } from "../digest.ts";
import { knownEntries, type KnownEntry } from "../known_entries.ts";
import type { Outcome, Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";

const MOST_ENTRIES = 300_000;
const MOST_FILES = 60;
const MOST_BYTES = 16 << 20;
const LONG_PATH = 8192;

export const treeDrive: Drive = { name: "tree", every: 1, memory: 512, run };

async function run(scene: Scene): Promise<void> {
  const { path, dice } = scene;
  const isPlain = dice.once(2);
  const options = {
    ...QUIET,
    checkData: isPlain || !dice.once(3),
    decoded: !isPlain && dice.once(2),
    ext: !isPlain && dice.once(3) ? "jpg" : undefined,
  };
  const [opened, openedSync] = await scene.both(
    "open",
    () => open(path, options),
    () => openSync(path, options),
    ({ info }) => info,
  );
  if (opened.ok && openedSync.ok) {
    await driveOpened(scene, opened.value, openedSync.value, isPlain);
  }
  for (const outcome of [opened, openedSync]) {
    if (outcome.ok) outcome.value.close();
  }
}

async function driveOpened(
  scene: Scene,
  fs: VirtualFs,
  other: VirtualFs,
  isPlain: boolean,
): Promise<void> {
  const [walked] = await scene.both(
    "walk",
    () => firstOf(fs.walk()),
    () => firstOfSync(other.walkSync()),
    (entries) =>
      entries.map(({ name, path, isFile }) => [name, path.length, isFile]),
  );
  await scene.both("list", () => fs.list(), () => other.listSync());
  if (!walked.ok) return;
  const { dice } = scene;
  const entries = walked.value;
  for (
    const path of dice.some(entries.map(({ path }) => path), 20).filter(
      isShort(),
    )
  ) {
    await scene.both("stat", () => fs.stat(path), () => other.statSync(path));
  }
  const files = entries.filter(({ isFile }) => isFile).map(({ path }) => path);
  const read = await readFiles(
    scene,
    fs,
    other,
    dice.some(files, MOST_FILES).filter(isShort()),
  );
  await readOtherwise(scene, fs, read);
  if (isPlain) await compareWithOriginal(scene, fs, new Set(files));
  if (isPlain) await checkAll(scene, read);
}

/** Limits paths of tens of thousands of names to two, since looking them up is slow. */
function isShort(): (path: string) => boolean {
  let long = 0;
  return ({ length }) => length < LONG_PATH || ++long <= 2;
}

async function firstOf(walk: AsyncIterable<WalkEntry>): Promise<WalkEntry[]> {
  const entries: WalkEntry[] = [];
  for await (const entry of walk) {
    if (entries.push(entry) === MOST_ENTRIES) break;
  }
  return entries;
}

function firstOfSync(walk: Iterable<WalkEntry>): WalkEntry[] {
  const entries: WalkEntry[] = [];
  for (const entry of walk) if (entries.push(entry) === MOST_ENTRIES) break;
  return entries;
}

type Read = Map<string, Outcome<Uint8Array>>;

/** Reads files one by one and in a batch. */
async function readFiles(
  scene: Scene,
  fs: VirtualFs,
  other: VirtualFs,
  paths: readonly string[],
): Promise<Read> {
  const read: Read = new Map();
  let left = MOST_BYTES;
  for (const path of paths) {
    const stat = await scene.attempt("stat", () => fs.stat(path));
    if (!stat.ok || stat.value.size > left) continue;
    left -= stat.value.size;
    const [one] = await scene.both(
      "read",
      () => fs.read(path),
      () => other.readSync(path),
    );
    read.set(path, one);
    if (one.ok && one.value.length !== stat.value.size) {
      scene.report(
        "disagreement",
        `${path} has ${stat.value.size} bytes by stat, ${one.value.length} by read`,
      );
    }
  }
  const together = [...read.keys()];
  const [batch] = await scene.both(
    "read of a batch",
    () => fs.read(together),
    () => other.readSync(together),
  );
  const failed = together.filter((path) => !read.get(path)!.ok);
  if (batch.ok !== (failed.length === 0)) {
    scene.report(
      "disagreement",
      `the batch ${
        batch.ok ? "is read" : "fails"
      }, ${failed.length} of ${together.length} files fail alone`,
    );
  }
  if (!batch.ok) return read;
  for (const [i, path] of together.entries()) {
    const one = read.get(path)!;
    if (!one.ok) continue;
    scene.expect(digestOf(one.value), batch.value[i], `${path} in a batch`);
  }
  return read;
}

/** Compares streams and ranges with whole reads. */
async function readOtherwise(
  scene: Scene,
  fs: VirtualFs,
  read: Read,
): Promise<void> {
  const { dice } = scene;
  for (const [path, whole] of dice.some([...read], 4)) {
    const streamed = await scene.attempt("stream", async () => {
      const parts = await Array.fromAsync(await fs.stream(path));
      return new Uint8Array(await new Blob(parts).arrayBuffer());
    });
    scene.compare(whole, streamed, "read", "stream");
    if (!whole.ok) continue;
    const start = dice.int(whole.value.length + 2);
    const length = dice.size(1, 100_000);
    const range = await scene.attempt(
      "readRange",
      () => fs.readRange(path, start, length),
    );
    const part = whole.value.subarray(start, start + length);
    scene.compare({ ok: true, value: part }, range, "read", "readRange");
  }
}

/**
 * Compares a container with its original, where the two must agree: everything without mutations; untouched entries, if
 * only the data of entries was mutated; and everything whose checksum matches.
 */
async function compareWithOriginal(
  scene: Scene,
  fs: VirtualFs,
  files: ReadonlySet<string>,
): Promise<void> {
  const { mutated: { touched }, original } = scene;
  if (touched === undefined) return;
  const known = knownEntries(original);
  if (known === undefined) return;
  const areOnlyData = touched.every(({ path, start, end }) =>
    known.covers(path, start, end)
  );
  // Without its first bytes, the last sample of a packed folder is a plain sample. Without one of its files, later
  // samples have other indices.
  const isSummed = fs.info.format === "ffrecord" &&
    fs.info.kind === known.kind &&
    (fs.samples?.shards.lost.length ?? 0) === 0 &&
    !touched.some(({ start }) => start < 4);
  if (!areOnlyData && !isSummed) return;
  for (const path of files) {
    if (!known.entries.has(path)) {
      scene.report("wrong-bytes", `${path}: the original has no such file`);
    }
  }
  for (const [path, entry] of scene.dice.some([...known.entries], MOST_FILES)) {
    const isWhole = areOnlyData &&
      !touched.some((touched) => overlaps(entry, touched));
    if (!isWhole && !(isSummed && files.has(path))) continue;
    const now = await scene.attempt(
      "read of the original",
      () => fs.read(path),
    );
    if (now.ok) scene.expect(entry.digest, now.value, path);
    else if (isWhole && entry.isReadable) {
      scene.report("wrong-bytes", `${path}: not readable any more`);
    }
  }
}

function overlaps(
  entry: KnownEntry,
  touched: { path: string; start: number; end: number },
): boolean {
  return entry.file === touched.path && entry.start < touched.end &&
    touched.start < entry.end;
}

/** If a check finds no damage, every read must succeed. */
async function checkAll(scene: Scene, read: Read): Promise<void> {
  const damages: unknown[] = [];
  const report = await scene.attempt("check", () =>
    check(scene.path, {
      ...QUIET,
      onDamage: (damage) => damages.push(damage),
    }));
  if (!report.ok) return;
  if (report.value.damaged !== damages.length) {
    scene.report(
      "disagreement",
      `check counts ${report.value.damaged} damages and tells ${damages.length}`,
    );
  }
  for (const damage of damages.slice(0, 100)) {
    scene.attemptSync("damage of check", () => {
      throw damage;
    });
  }
  const failed = [...read].find(([, { ok }]) => !ok);
  if (damages.length === 0 && failed !== undefined) {
    scene.report(
      "disagreement",
      `check finds nothing, and ${failed[0]} cannot be read`,
    );
  }
}
