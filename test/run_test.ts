/** The mode of `/dev/fuse` is restored after the tests, whether they ended or were killed. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { LEFT_TO_ALL } from "./support/long.ts";
import { REPOSITORY } from "./support/paths.ts";
import { needs } from "./support/programs/programs.ts";
import { withTmpfs } from "./support/programs/tmpfs.ts";

/** A test that opens the device to every user, and runs until it may end. */
const TEST = `
import { withOpenFuseDevice } from "${REPOSITORY}test/support/programs/fuse_device.ts";

Deno.test("the device is open", () => withOpenFuseDevice(async () => {
  const nobody = { args: ["-c", ": <>/dev/fuse"], uid: 65534, gid: 65534 };
  const { success } = await new Deno.Command("sh", nobody).output();
  Deno.writeTextFileSync("DIR/pid.part", String(Deno.pid));
  Deno.renameSync("DIR/pid.part", "DIR/pid");
  while (!await Deno.stat("DIR/go").catch(() => undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  if (!success) throw new Error("it is not");
}));
`;

/** The runner that gives tests a device of their own. */
const OWN_DEVICE = "deno task test";

/** Commands that run a test. */
const RUNNERS: Record<string, readonly string[]> = {
  [OWN_DEVICE]: ["run", "-A", `${REPOSITORY}test/run.ts`],
  "deno test": ["test", "-A", "--no-check"],
};

/** Ways to end a run. */
const ENDS: Record<string, readonly string[] | undefined> = {
  "its last test": undefined,
  "SIGINT of the terminal": ["-INT", "--", "-PID"],
  "SIGKILL of the process group": ["-KILL", "--", "-PID"],
  "SIGKILL": ["-KILL", "PID"],
};

Deno.test("files that are left to deno task test:all exist", () => {
  const gone = LEFT_TO_ALL.filter((file) => !fs.existsSync(REPOSITORY + file));
  assert.deepEqual(gone, []);
});

const modeOf = (path: string) => fs.statSync(path).mode & 0o777;

async function until(condition: () => boolean): Promise<void> {
  for (const start = performance.now(); !condition(); await setTimeout(20)) {
    if (performance.now() - start > 120_000) throw new Error(`${condition}`);
  }
}

for (const [runner, args] of Object.entries(RUNNERS)) {
  for (const [end, kill] of Object.entries(ENDS)) {
    Deno.test({
      name: `/dev/fuse is as before: ${runner}, ended by ${end}`,
      ...needs("root", "/dev/fuse", "unshare"),
      fn: () =>
        withTmpfs("1m", async (dir) => {
          await run("mknod", "-m", "600", `${dir}/fuse`, "c", "10", "229");
          fs.writeFileSync(`${dir}/one_test.ts`, TEST.replaceAll("DIR", dir));
          const running = new Deno.Command("unshare", {
            args: [
              ...["--mount", "--propagation", "private", "sh", "-c"],
              'mount --bind "$0" /dev/fuse && exec setsid "$@"',
              ...[`${dir}/fuse`, Deno.execPath(), ...args],
              `${dir}/one_test.ts`,
            ],
            cwd: REPOSITORY,
            stdout: "null",
            stderr: "null",
          }).spawn();
          try {
            await until(() => fs.existsSync(`${dir}/pid`));
            if (runner === OWN_DEVICE) {
              assert.equal(modeOf(`${dir}/fuse`), 0o600);
            }
            if (kill !== undefined) {
              const id = String(running.pid);
              await run("kill", ...kill.map((arg) => arg.replace("PID", id)));
            }
          } finally {
            fs.writeFileSync(`${dir}/go`, "");
          }
          const { code } = await running.status;
          assert.equal(code === 0, kill === undefined);
          const tests = fs.readFileSync(`${dir}/pid`, "utf8");
          await until(() => !fs.existsSync(`/proc/${tests}`));
          await until(() => modeOf(`${dir}/fuse`) === 0o600);
        }),
    });
  }
}

async function run(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
}
