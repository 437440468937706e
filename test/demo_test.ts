/** The demo, started by root and by an ordinary user. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { REPOSITORY } from "./support/paths.ts";
import { needs } from "./support/programs/programs.ts";
import { asOrdinaryUser, asSelf, type User } from "./support/programs/users.ts";

for (
  const [name, as, needed] of [
    ["the user of the tests", asSelf, ["fuse"]],
    ["an ordinary user", asOrdinaryUser, ["fuse", "root", "fusermount3"]],
  ] as const
) {
  Deno.test({
    name: `deno task demo, by ${name}`,
    ...needs(...needed),
    fn: () =>
      as(async (user) => {
        if (user.project !== REPOSITORY) await copyDemo(user);
        const config = `${user.project}deno.json`;
        const shown = await user.do(user.deno, "task", "-c", config, "demo");
        assert.match(shown, /copied and compared: equal/);
        assert.match(shown, /loaded;\nall were .*, and unmounted\.\n$/);
        const [, place] = /^recordfs demo, in (.*)$/m.exec(shown)!;
        assert.equal(fs.existsSync(place!), false);
      }),
  });
}

Deno.test({
  name: "the demo, stopped by Ctrl-C, leaves no mount and no file behind",
  ...needs("fuse"),
  async fn() {
    const demo = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${REPOSITORY}test/demo.ts`],
      stdout: "piped",
    }).spawn();
    let shown = "";
    for await (const text of demo.stdout.pipeThrough(new TextDecoderStream())) {
      const isMounted = shown.includes("$ ls -l mnt");
      shown += text;
      if (!isMounted && shown.includes("$ ls -l mnt")) demo.kill("SIGINT");
    }
    assert.equal((await demo.status).code, 130);
    assert.match(
      shown,
      /\nStopped: nothing is mounted, and no file is left\.\n$/,
    );
    const [, place] = /^recordfs demo, in (.*)$/m.exec(shown)!;
    assert.equal(fs.existsSync(place!), false);
    assert.equal(
      fs.readFileSync("/proc/mounts", "utf8").includes(place!),
      false,
    );
  },
});

/** Adds the demo's files to the user's copy of the project. */
async function copyDemo({ project, own }: User): Promise<void> {
  for (const part of ["test/demo.ts", "test/support"]) {
    fs.cpSync(REPOSITORY + part, project + part, { recursive: true });
    await own(project + part);
  }
}
