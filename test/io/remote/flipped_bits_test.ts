/** Flipped bits on the disk of the cache: checksums detect them, and the content is fetched again. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { check, open } from "../../../mod.ts";
import { FFRecordReader } from "../../../src/formats/ffrecord/mod.ts";
import { SharedRoom } from "../../../src/io/read/read_memory.ts";
import { RemoteStorage } from "../../../src/io/remote/remote_storage.ts";
import { contentPieces } from "../../../src/tree/vfs/read_files.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";

const SAMPLES = Array.from(
  { length: 30 },
  (_, i) => new Uint8Array(70_000).map((_, k) => (k * 13 + i * 5) >> 2),
);
const NAMES = SAMPLES.map((_, i) => String(i).padStart(6, "0"));
const FILE = ffrBytes(SAMPLES);

interface Place {
  readonly url: string;
  readonly server: FileServer;
  /** Path of the served file. */
  readonly file: string;
  readonly remote: { readonly cache: { readonly directory: string } };
  /** Flips a bit of the cached object. */
  flip(at: number): void;
}

/** Serves a container that is fully cached. */
async function withCached(use: (place: Place) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const file = `${dir}/www/a.ffr`;
    fs.writeFileSync(file, FILE);
    await using server = await FileServer.start(`${dir}/www`);
    const url = `${server.url}/a.ffr`;
    const remote = { cache: { directory: `${dir}/cache` } };
    {
      using container = await open(url, { remote });
      await container.read(NAMES);
    }
    const flip = (at: number) => {
      const [data] = fs.globSync(`${dir}/cache/objects/*/*/data`);
      const fd = fs.openSync(data!, "r+");
      fs.writeSync(fd, Uint8Array.of(FILE[at]! ^ 16), 0, 1, at);
      fs.closeSync(fd);
    };
    await use({ url, server, file, remote, flip });
  });
}

/** Returns the offset of a byte of a sample. */
function placeIn(sample: number, behind: number): number {
  return FILE.length - (SAMPLES.length - sample) * 70_000 + behind;
}

/** Different ways to read samples 3 and 12. */
const WAYS: Record<
  string,
  (place: Place) => Promise<(Uint8Array | undefined)[]>
> = {
  async "files one by one"({ url, remote }) {
    using container = await open(url, { remote });
    const at = (i: number) => container.read(NAMES[i]!);
    return [await at(3), await at(12)];
  },
  async "files together"({ url, remote }) {
    using container = await open(url, { remote });
    const read = await container.read(NAMES);
    return [read[3], read[12]];
  },
  async "pieces, as they are extracted"({ url, remote }) {
    using container = await open(url, { remote });
    const all: Uint8Array[] = [];
    for (const sample of [3, 12]) {
      const { ino } = await container.stat(NAMES[sample]!);
      const pieces = contentPieces(container, ino, NAMES[sample]!);
      for await (const piece of pieces) all.push(piece.slice());
    }
    return all;
  },
  async "streams"({ url, remote }) {
    using container = await open(url, { remote });
    const bytesOf = async (sample: number) =>
      new Response(await container.stream(NAMES[sample]!)).bytes();
    return [await bytesOf(3), await bytesOf(12)];
  },
  async "one sample"({ url, remote }) {
    const storage = new RemoteStorage(url, remote);
    using reader = await FFRecordReader.open(storage.root, { storage });
    return [await reader.readOne(3), await reader.readOne(12)];
  },
  async "a batch into memory that there is"({ url, remote }) {
    const storage = new RemoteStorage(url, remote);
    using reader = await FFRecordReader.open(storage.root, { storage });
    const memory = new SharedRoom();
    return (await reader.read([3, 12, 3], { memory })).slice(0, 2);
  },
};

for (const [what, read] of Object.entries(WAYS)) {
  Deno.test(`${what}: wrong bytes in the cache are fetched again`, async () => {
    await withCached(async (place) => {
      place.flip(placeIn(3, 12));
      place.flip(placeIn(12, 69_999));
      const before = place.server.asked.length;
      assert.deepEqual(await read(place), [SAMPLES[3], SAMPLES[12]]);
      const asked = place.server.asked.slice(before);
      // The revalidation, and both samples.
      assert.equal(asked.length, 3);
      assert.deepEqual(await read(place), [SAMPLES[3], SAMPLES[12]]);
      assert.equal(place.server.asked.length, before + 4); // only the revalidation: the cache is repaired
    });
  });
}

Deno.test("bytes that are wrong on the server as well are an error that names the sample, each time", async () => {
  for (const [what, read] of Object.entries(WAYS)) {
    await withCached(async (place) => {
      // As if the file had been damaged on the server before it was fetched.
      const wrong = FILE.slice();
      wrong[placeIn(3, 12)]! ^= 16;
      fs.writeFileSync(place.file, wrong);
      for (let times = 0; times < 2; times++) {
        await assert.rejects(
          read(place),
          (error: Error & { code?: string }) =>
            error.code === "sample-checksum" && /sample 3|000003/.test(
              error.message,
            ),
          what,
        );
      }
    });
  }
});

Deno.test("a wrong header in the cache is fetched again", async () => {
  for (const at of [0, 5, 11, 13, 40, 300]) { // in the checksum, the count, and both tables
    await withCached(async ({ url, remote, flip, server }) => {
      flip(at);
      const before = server.asked.length;
      using container = await open(url, { remote });
      assert.deepEqual(await container.read(NAMES[29]!), SAMPLES[29]);
      assert.equal(server.asked.length, before + 2, `${at}`);
    });
  }
});

Deno.test("a check verifies the container, and repairs the cache", async () => {
  await withCached(async ({ url, remote, flip, file }) => {
    flip(placeIn(3, 12));
    flip(placeIn(17, 1));
    const checked = async () => {
      const damage: string[] = [];
      const onDamage = (error: Error) => damage.push(error.message);
      const report = await check(url, { remote, onDamage });
      return { damaged: report.damaged, damage };
    };
    assert.deepEqual(await checked(), { damaged: 0, damage: [] });
    const wrong = FILE.slice();
    wrong[placeIn(17, 1)]! ^= 16;
    fs.writeFileSync(file, wrong);
    const { damaged, damage } = await checked();
    assert.equal(damaged, 1);
    assert.match(damage[0]!, /read sample 17 of .*a\.ffr: checksum mismatch:/);
  });
});
