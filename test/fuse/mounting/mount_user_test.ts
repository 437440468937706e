import assert from "node:assert/strict";
import { asOrdinaryUser, NOBODY } from "../../support/programs/users.ts";
import { userMountTest } from "../support/mounting.ts";

interface Run {
  readonly mode: string;
  readonly options?: Record<string, unknown>;
  readonly path?: string;
}

/** Runs `support/serve.ts` as an ordinary user. */
async function asNobody(
  { mode, options = {}, path = Deno.env.get("PATH") }: Run,
  prepare: (mountpoint: string) => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  let lines: string[] = [];
  await asOrdinaryUser(async (user) => {
    const mountpoint = `${user.home}/mountpoint`;
    await user.do("mkdir", mountpoint);
    await prepare(mountpoint);
    const { stdout, stderr } = await user.run(
      "env",
      ...[`PATH=${path}`, `MOUNT_OPTIONS=${JSON.stringify(options)}`],
      ...[user.deno, "run", "--no-check", "--no-config", "-A"],
      ...[`${user.project}test/fuse/support/serve.ts`, mountpoint, mode],
    );
    lines = stdout.trim().split("\n");
    if (lines[0] === "") lines[0] = stderr;
  });
  return lines;
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

userMountTest(
  "an ordinary user mounts, reads and unmounts through fusermount3",
  async () => {
    const lines = await asNobody({
      mode: "read",
      options: { source: "/data/a,b\\c" },
    });
    assert.deepEqual(lines, ["ready", "hello", String(NOBODY), "ended"]);
  },
);

userMountTest("an ordinary user's busy mount is ended by force", async () => {
  const lines = await asNobody({ mode: "force" });
  assert.deepEqual(lines, ["ready", "hello", "busy", "ended"]);
});

userMountTest("the message of fusermount3 is passed on", async () => {
  const words = {
    "755": /^refused: .*no write access to mountpoint/,
    "700": /^refused: .*fusermount3: failed to chdir to mountpoint/,
  };
  for (const [mode, expected] of Object.entries(words)) {
    const own = async (mountpoint: string) => {
      await run("chown", ["root", mountpoint]);
      await run("chmod", [mode, mountpoint]);
    };
    const lines = await asNobody({ mode: "read" }, own);
    assert.match(lines[0] ?? "", expected);
  }
});

userMountTest("a missing fusermount3 is named", async () => {
  const lines = await asNobody({ mode: "read", path: "/nowhere" });
  assert.match(lines[0] ?? "", /^no-fusermount: .*Install the package fuse3/);
});

userMountTest("a mount without its descriptor is removed", async () => {
  const bin = await Deno.makeTempDir({ prefix: "recordfs_bin_" });
  try {
    const fake = `${bin}/fusermount3`;
    // Exits successfully without mounting, and records its arguments.
    await Deno.writeTextFile(fake, '#!/bin/sh\necho "$1" >>"${0%/*}/calls"\n');
    await run("chmod", ["-R", "777", bin]);
    const path = `${bin}:${Deno.env.get("PATH")}`;
    const lines = await asNobody({ mode: "read", path });
    assert.match(lines[0] ?? "", /^refused: .*did not pass/);
    assert.equal(await Deno.readTextFile(`${bin}/calls`), "-o\n-uz\n");
  } finally {
    await Deno.remove(bin, { recursive: true });
  }
});
