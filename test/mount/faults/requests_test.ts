/** Number of requests that the kernel sends, which determines the speed of a mount. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount } from "../../../fuse/mount_container.ts";
import { settled } from "../../fuse/support/settled.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const SIZES = [1, 4096, 100_000, 131_072];

/** Mounts files of {@linkcode SIZES} and runs `body` with a function that counts the requests since its last call. */
async function traced(
  body: (
    mountpoint: string,
    requests: () => Promise<Map<string, number>>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const files = SIZES.flatMap((size) =>
      Array.from(
        { length: 5 },
        (_, i) => [`${size}-${i}`, new Uint8Array(size)],
      )
    );
    const samples = packedSamples({ files: Object.fromEntries(files) });
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
    fs.mkdirSync(`${dir}/mnt`);
    const lines: string[] = [];
    await using mounted = await mount(`${dir}/a.ffr`, `${dir}/mnt`, {
      onTrace: (line) => lines.push(line),
      workers: 1,
    });
    await body(mounted.mountpoint, async () => {
      await settled(mounted.mountpoint, lines);
      const counts = new Map<string, number>();
      for (const line of lines.splice(0)) {
        const name = /^\S+/.exec(line)![0];
        if (name === "STATFS") continue; // programs such as df send it for all mounts
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      return counts;
    });
  });
}

async function sh(command: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-c", command],
    stdout: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test({
  name:
    "after a listing, a file up to 128 KiB costs one request; a second pass costs none",
  ...needs("fuse"),
  async fn() {
    await traced(async (mountpoint, requests) => {
      await sh(`ls -lR ${mountpoint}`);
      const listing = await requests();
      assert.equal(listing.get("READ"), undefined);
      await sh(`cat ${mountpoint}/files/*`);
      const reading = await requests();
      assert.equal(reading.get("READ"), SIZES.length * 5);
      assert.equal(reading.get("LOOKUP"), undefined);
      const others = [...reading].filter(([name]) =>
        !/^(READ|READDIR|READDIRPLUS|OPEN|FLUSH)$/.test(name)
      );
      assert.deepEqual(others, []);
      assert.ok((reading.get("OPEN") ?? 0) <= 1, "OPEN is asked once a mount");
      // A machine short of memory drops cached pages and reads them again, but not in every pass.
      let again = new Map([["", 0]]);
      for (let tries = 0; again.size > 0 && tries < 5; tries++) {
        await sh(`ls -lR ${mountpoint} && cat ${mountpoint}/files/*`);
        await sh(`find ${mountpoint} -type f -size +0 -exec cat {} +`);
        again = await requests();
      }
      assert.deepEqual([...again], []);
    });
  },
});

Deno.test({
  name: "without a listing, a file up to 128 KiB costs a LOOKUP and a READ",
  ...needs("fuse"),
  async fn() {
    await traced(async (mountpoint, requests) => {
      await sh(`cat ${mountpoint}/files/1-0`); // looks up the directories
      await requests();
      await sh(`cat ${mountpoint}/files/100000-3`);
      assert.deepEqual([...await requests()].toSorted(), [["LOOKUP", 1], [
        "READ",
        1,
      ]]);
    });
  },
});
