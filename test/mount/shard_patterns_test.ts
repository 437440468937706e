/** `mount` of a relative pattern of tars: the background server and its successor resolve it in the same way. */
import assert from "node:assert/strict";
import { CLI, run } from "../cli/run_cli.ts";
import { tarBytes } from "../support/tar/make_tar.ts";
import { found, killServer, test, writeIndices } from "./shown.ts";

test("a subset of the samples of a relative pattern is mounted, also after a crash", async (place) => {
  const { dir, env, mountpoint } = place;
  // The first shard is empty, and the files of a sample are not adjacent.
  const shards = {
    "x-2": [],
    "x-1": ["0.a", "1.a", "0.b", "1.b"],
    y: ["2.a", "2.b", "3.a", "3.b"],
  };
  await Deno.mkdir(`${dir}/in/d`, { recursive: true });
  for (const [name, names] of Object.entries(shards)) {
    const members = names.map((name) => ({ name, data: name }));
    await Deno.writeFile(`${dir}/in/${name}.tar`, tarBytes(members));
  }
  const subset = await writeIndices(place, [1, 2]);
  const pattern = "../x-{2..1}.tar::./../{y..y}.tar";
  // Entering another mount namespace resets the working directory to the root.
  const ran = await run([
    ...["sh", "-c", 'cd "$0" && exec "$@"', `${dir}/in/d`],
    ...[Deno.execPath(), "run", "-A", "--no-check", CLI],
    ...["mount", "--subset", subset, pattern, mountpoint],
  ], { env });
  assert.match(ran.stderr, /^(recordfs: warning: .*\n)?$/);
  assert.equal(ran.code, 0);
  const shown = ["x-1/1.a", "x-1/1.b", "y/2.a", "y/2.b"];
  assert.deepEqual(await found(mountpoint, "f"), shown);
  await killServer(place);
  assert.deepEqual(await found(mountpoint, "f"), shown);
  assert.equal(await Deno.readTextFile(`${mountpoint}/x-1/1.b`), "1.b");
  const ended = await place.recordfs("unmount", mountpoint);
  assert.deepEqual([ended.stderr, ended.code], ["", 0]);
});
