/** Cached indexes of large containers: a second open needs no other, and a wrong or stale one does no harm. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../src/open/open.ts";
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { FULL } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { serving } from "../../support/remote/serving.ts";
import type { IndexedCase } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Least number of entries for which the index of a local container is cached. */
const MANY = 1 << 15;
/** Bytes an entry, enough for the index of a remote container to be cached as well. */
const ENTRY = 300;
const TIME = 1_700_000_000;

/** Returns contents of a large container: each has its index, and a common letter. */
function contentsOf(letter: string): string[] {
  return Array.from(
    { length: MANY + 10 },
    (_, i) => `${letter}${i} `.padEnd(ENTRY, "."),
  );
}

const made = new Map<string, Uint8Array>();

/** Returns the bytes of a large container whose contents have this letter. */
function bytesOf({ name, bytes }: IndexedCase, letter: string): Uint8Array {
  const key = `${name} ${letter}`;
  if (!made.has(key)) made.set(key, bytes(contentsOf(letter)));
  return made.get(key)!;
}

/** A large container on disk, and a cache directory. */
interface Place {
  readonly path: string;
  readonly cache: string;
}

function openIn(
  { path, cache }: Place,
  directory: string | undefined = cache,
): Promise<VirtualFs> {
  const remote = { cache: directory !== "" && { directory } } as const;
  return open(path, { remote, onWarning() {} });
}

/** Reads an entry of a container, and asserts that the container is complete. */
async function read(place: Place, entry: number): Promise<string> {
  using shown = await openIn(place);
  const names = await shown.list();
  assert.equal(names.length, MANY + 10);
  const text = new TextDecoder().decode(await shown.read(names[entry]!));
  return text.slice(0, text.indexOf(" "));
}

/** Sets a time in whole seconds, since setting it again would round it. */
function setTime(path: string): void {
  fs.utimesSync(path, TIME, TIME);
}

function keptFiles({ cache }: Place): string[] {
  const directory = `${cache}/indexes`;
  return fs.existsSync(directory)
    ? fs.readdirSync(directory).map((name) => `${directory}/${name}`)
    : [];
}

async function withPlace(
  indexed: IndexedCase,
  body: (place: Place) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const place = { path: `${dir}/${indexed.name}`, cache: `${dir}/cache` };
    fs.writeFileSync(place.path, bytesOf(indexed, "n"));
    setTime(place.path);
    await body(place);
  });
}

for (const [title, { indexed }] of CASES) {
  if (indexed === undefined) continue;

  Deno.test(`${title}: the second open of a large container reads no index but the cached one`, () =>
    withPlace(indexed, async (place) => {
      assert.equal(await read(place, 700), "n700");
      const [file, ...others] = keptFiles(place);
      assert.deepEqual(others, []);
      assert.equal(fs.statSync(file!).mode & 0o777, 0o600);
      // The change is invisible: time, size and inode are unchanged.
      const bytes = Uint8Array.from(bytesOf(indexed, "n"));
      indexed.ruin(bytes);
      fs.writeFileSync(place.path, bytes);
      setTime(place.path);
      assert.equal(await read(place, 700), "n700");
      await assert.rejects(async () => {
        using shown = await openIn(place, "");
        assert.equal((await shown.list()).length, MANY + 10);
      });
    }));

  Deno.test(`${title}: a cached index is used only for one state of a container`, () =>
    withPlace(indexed, async (place) => {
      assert.equal(await read(place, 1), "n1");
      fs.writeFileSync(place.path, bytesOf(indexed, "m")); // of equal size
      assert.equal(await read(place, 1), "m1");
      assert.equal(keptFiles(place).length, 1);
      // A different file of the same path, size and time.
      setTime(place.path);
      assert.equal(await read(place, 1), "m1");
      fs.writeFileSync(`${place.path}.new`, bytesOf(indexed, "n"));
      setTime(`${place.path}.new`);
      fs.renameSync(`${place.path}.new`, place.path);
      assert.equal(await read(place, 1), "n1");
    }));

  Deno.test(`${title}: a damaged cached index is rebuilt, and none is cached if that is disabled or impossible`, () =>
    withPlace(indexed, async (place) => {
      (await openIn(place, "")).close();
      assert.deepEqual(keptFiles(place), []);
      assert.equal(await read(place, 1), "n1");
      const [file] = keptFiles(place);
      const whole = fs.readFileSync(file!);
      const { length } = whole;
      const flipped = (at: number) => {
        const bytes = Uint8Array.from(whole);
        bytes[at]! ^= 1;
        return bytes;
      };
      const damaged = [
        ...[0, 20, length >> 1, length - 8].map((end) =>
          whole.subarray(0, end)
        ),
        ...[3, 24, 28, 40, length >> 1, length - 9].map(flipped),
        Uint8Array.from([...whole.subarray(0, 100), ...whole]),
      ];
      for (const [i, bytes] of damaged.entries()) {
        if (!FULL && i % 4 > 0) continue;
        fs.writeFileSync(file!, bytes);
        assert.equal(await read(place, 1), "n1");
        assert.equal(fs.statSync(file!).size, length);
      }
      fs.rmSync(place.cache, { recursive: true });
      fs.writeFileSync(place.cache, "a file");
      assert.equal(await read(place, 2), "n2");
    }));

  Deno.test(`${title}: the cached index of a remote container is validated once, and contains no secrets`, () =>
    serving(async ({ dir, server, directory }) => {
      const { name } = indexed;
      fs.writeFileSync(`${dir}/${name}`, bytesOf(indexed, "n"));
      const url = `${server.url}/${name}?signature=secret`;
      const place = { path: url, cache: directory };
      assert.equal(await read(place, 5), "n5");
      const [file] = keptFiles(place);
      assert.doesNotMatch(fs.readFileSync(file!, "latin1"), /secret/);
      fs.rmSync(`${directory}/objects`, { recursive: true });
      server.asked.length = 0;
      (await openIn(place)).close();
      assert.ok(server.asked.length <= 1, `${server.asked.length} requests`);
      fs.writeFileSync(`${dir}/${name}`, bytesOf(indexed, "m"));
      assert.equal(await read(place, 5), "m5");
    }));
}
