/** A user's own state directory, with unexpected files in place of a record or of the files next to it. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { identify } from "../../src/cli/mount/processes.ts";
import {
  isRunning,
  type MountPlace,
  until,
  withMountPlace,
} from "../cli/mount/mount_place.ts";
import { LONG } from "../support/long.ts";
import { needs } from "../support/programs/programs.ts";
import { SPECIAL_FILES } from "../support/programs/special_files.ts";
import { bothAlive, pathOfRecord } from "./numbers_mount.ts";
import { bounded, mountSmall, withBystanders } from "./small_mount.ts";

function test(name: string, body: (place: MountPlace) => Promise<void>): void {
  Deno.test({ name, ...needs("fuse", "root"), fn: () => withMountPlace(body) });
}

/** Suffixes of the files next to a record that are read or written while a mount is live. */
const BESIDE = ["command", "next", "hidden", "dead", "stats", "json.part"];

/** Two kinds on a quick run, since the other kinds are rejected in the same way. */
const KINDS = Object.entries(SPECIAL_FILES).filter(([kind]) =>
  LONG || ["a pipe", "a symbolic link"].includes(kind)
);

for (const [kind, make] of KINDS) {
  Deno.test({
    name:
      `a mount lives, is replaced and ends with ${kind} in place of each file next to its record`,
    ...needs("fuse", "root"),
    fn: () =>
      withMountPlace(async (place) => {
        const { dir, mountpoint, env } = place;
        const source = await mountSmall(place);
        const victim = `${dir}/run/victim`;
        fs.writeFileSync(victim, "touch /tmp/recordfs-test-escaped\n");
        const base = (await pathOfRecord(place)).replace(/json$/, "");
        for (const ending of BESIDE) make(base + ending, victim);
        fs.renameSync(`${base}log`, `${dir}/log`);
        make(`${base}log`, victim);

        const before = await bothAlive(place);
        Deno.kill(before.supervisor, "SIGKILL");
        await until(async () =>
          (await bothAlive(place)).supervisor !== before.supervisor
        );
        Deno.kill(before.server, "SIGKILL");
        await until(async () =>
          (await bothAlive(place)).server !== before.server
        );
        assert.equal(fs.readFileSync(`${mountpoint}/a.txt`, "utf8"), "a");
        const listed = await bounded(["mounts", "--json"], env);
        assert.deepEqual([listed.stderr, listed.code], ["", 0]);
        const replace = ["mount", "--replace", "--workers=1"];
        const replaced = await bounded([...replace, source, mountpoint], env);
        // A file cannot replace a directory.
        assert.equal(replaced.code, kind === "a directory" ? 1 : 0);
        const { server, supervisor } = await bothAlive(place);
        const unmounted = await bounded(["unmount", mountpoint], env);
        assert.deepEqual([unmounted.stderr, unmounted.code], ["", 0]);
        await until(async () =>
          !await isRunning(server) && !await isRunning(supervisor)
        );
        assert.equal(
          fs.readFileSync(victim, "utf8"),
          "touch /tmp/recordfs-test-escaped\n",
        );
        assert.equal(fs.existsSync(`${base}json`), false);
      }),
  });
}

test("an invalid record, or one of another process, is ignored, and named once", async (place) => {
  const { dir, mountpoint, env, state } = place;
  await mountSmall(place);
  const path = await pathOfRecord(place);
  const real = JSON.parse(fs.readFileSync(path, "utf8"));
  const names: string[] = [];
  const put = (name: string, make: (path: string) => void) => {
    names.push(`${name.replaceAll(/\W/g, "-")}.json`);
    make(`${state}/${names.at(-1)}`);
  };
  fs.writeFileSync(`${dir}/run/victim`, JSON.stringify(real));
  for (const [kind, make] of Object.entries(SPECIAL_FILES)) {
    put(kind, (path) => make(path, `${dir}/run/victim`));
  }
  const texts = {
    empty: "",
    "cut off": JSON.stringify(real).slice(0, -10),
    init: JSON.stringify({ ...real, pid: 1 }),
    group: JSON.stringify({ ...real, pid: -real.pid }),
    list: "[]",
  };
  for (const [name, text] of Object.entries(texts)) {
    put(name, (path) => fs.writeFileSync(path, text));
  }
  await withBystanders(1, async ([bystander]) => {
    const process = identify(bystander!)!;
    const others = [
      { ...process, startTicks: process.startTicks + 1 },
      { ...process, uid: process.uid + 1 },
    ];
    for (const [i, supervisor] of others.entries()) {
      const supervised = { ...real.supervised, supervisor };
      const text = JSON.stringify({ ...real, ...others[i], supervised });
      fs.writeFileSync(`${state}/other-${i}.json`, text);
    }
    const { stdout, stderr, code } = await bounded(["mounts", "--json"], env);
    assert.equal(code, 0);
    const lines = stderr.trimEnd().split("\n");
    assert.deepEqual(
      lines.map((line) => line.split("/recordfs/")[1]!.split(" ")[0]).sort(),
      names.sort(),
    );
    for (const line of lines) {
      assert.match(
        line,
        /^recordfs: warning: The record \/run\/recordfs\/\S+ is ignored: .*\. Remove it$/,
      );
    }
    const mounts = JSON.parse(stdout) as Record<string, unknown>[];
    const mount = mounts.find((mount) => mount.mountpoint === mountpoint);
    assert.equal(mount?.pid, real.pid);
    const unmounted = await bounded(["unmount", mountpoint], env);
    assert.equal(unmounted.code, 0);
  });
});

test("a supervisor stays in the directory that was checked, whatever has its name", async (place) => {
  const { dir, state, mountpoint } = place;
  await mountSmall(place);
  const { server } = await bothAlive(place);
  const path = await pathOfRecord(place);
  const name = path.split("/").at(-1)!.replace(/json$/, "");
  fs.renameSync(state, `${dir}/run/away`);
  fs.mkdirSync(state, 0o700);
  for (const ending of ["next", "command"]) {
    fs.writeFileSync(`${state}/${name}${ending}`, `>'${dir}/taken'\n`);
  }
  const away = { ...place, state: `${dir}/run/away` };
  Deno.kill(server, "SIGKILL");
  await until(async () => (await bothAlive(away)).server !== server);
  assert.equal(fs.readFileSync(`${mountpoint}/a.txt`, "utf8"), "a");
  const { supervisor } = await bothAlive(away);
  Deno.kill(supervisor, "SIGKILL");
  await until(async () => (await bothAlive(away)).supervisor !== supervisor);
  assert.equal(fs.existsSync(`${dir}/taken`), false);
});
