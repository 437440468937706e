/** Mounts whose cache others can write to: they do not use it, and report that once. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { plantings, Victim } from "../../support/remote/planted_entries.ts";
import { test } from "../shown.ts";

const SAMPLES = Array.from(
  { length: 3 },
  (_, i) => new Uint8Array(300_000).map((_, k) => (k * 13 + i * 5) >> 2),
);

test("a mount uses no cache that others can write to, and touches none of their files", async (place) => {
  const { dir, mountpoint } = place;
  fs.mkdirSync(`${dir}/www`);
  fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes(SAMPLES));
  await using server = await FileServer.start(`${dir}/www`);
  const url = `${server.url}/a.ffr`;
  const mountAndRead = async (isUsed: boolean, ...args: string[]) => {
    const ran = await place.recordfs("mount", url, mountpoint, ...args);
    assert.equal(ran.code, 0, ran.stderr);
    for (const [i, sample] of SAMPLES.entries()) {
      const read = await fs.promises.readFile(`${mountpoint}/00000${i}`);
      assert.deepEqual(new Uint8Array(read), sample);
    }
    const logs = fs.globSync(`${place.state}/*.log`);
    const logged = logs.map((path) => fs.readFileSync(path, "utf8")).join("");
    const times = logged.split("Cannot use the cache").length - 1;
    assert.equal(times, isUsed ? 0 : 1, logged);
    const ended = await place.recordfs("unmount", mountpoint);
    assert.deepEqual([ended.stderr, ended.code], ["", 0]);
    return ran.stderr;
  };
  const cache = `${dir}/cache`;
  assert.equal(await mountAndRead(true, "--cache-dir", cache), "");
  const names = fs.readdirSync(cache, { recursive: true }) as string[];
  const data = names.find((name) => name.endsWith("/data"))!;

  // Other users can predict these names.
  fs.chmodSync(cache, 0o777);
  const victim = new Victim(`${dir}/victim`);
  fs.rmSync(`${cache}/${data}`);
  plantings["a link to a file"]!(`${cache}/${data}`, victim);
  const warned =
    /^recordfs: warning: Cannot use the cache [^\n]*written by everybody[^\n]*--cache-shared[^\n]*\n$/;
  assert.match(await mountAndRead(false, "--cache-dir", cache), warned);
  victim.assertUntouched("others can write");

  // In a directory of the user or of a trusted group, only the log reports a planted link.
  fs.chmodSync(cache, 0o2770);
  const shared = ["-o", `cache-dir=${cache},cache-shared`];
  assert.equal(await mountAndRead(false, ...shared), "");
  victim.assertUntouched("a group can write");

  fs.rmSync(`${cache}/${data}`);
  assert.equal(await mountAndRead(true, ...shared), "");
  assert.ok(fs.lstatSync(`${cache}/${data}`).isFile());
});
