/** Mounts in a control group with a memory limit, as in a container: the kernel kills processes of a full group. */
import assert from "node:assert/strict";
import { isRunning, namesIn, until } from "../../cli/mount/mount_place.ts";
import { CLI, run } from "../../cli/run_cli.ts";
import {
  hasMemoryGroups,
  type MemoryGroup,
  withMemoryGroup,
} from "../../support/programs/memory_group.ts";
import { PYTHON } from "../../support/programs/programs.ts";
import {
  bothAlive,
  COUNT,
  record,
  SIZE,
  test,
  THOROUGH,
} from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";

const MIB = 1 << 20;
const KILLS = 7;
const READERS = 4;
const READS = 150;

/** Takes memory in a group until the kernel has killed another process of the group, and then frees it. */
const HOG = `
import sys
procs, events = sys.argv[1:]
open(procs, "w").write("0")
def kills():
    return next(line for line in open(events) if line.startswith("oom_kill "))
before, held = kills(), []
while kills() == before:
    held.append(b"x" * (2 << 20))
`;

async function killForWantOfMemory({ procs }: MemoryGroup): Promise<void> {
  const directory = procs.slice(0, procs.lastIndexOf("/"));
  const events = (await namesIn(directory))
    .find((name) => /^memory\.(events|oom_control)$/.test(name));
  const args = ["-c", HOG, procs, `${directory}/${events}`];
  const { code, stderr } = await run([PYTHON, ...args]);
  assert.deepEqual([code, stderr], [0, ""]);
}

function testInGroup(
  name: string,
  body: Parameters<typeof test>[1],
  isWanted = true,
): void {
  // Needs root, and fails in containers, where control groups are read-only.
  const isPossible = Deno.uid() === 0 && hasMemoryGroups();
  if (!isWanted) return;
  if (isPossible) test(name, body, "root");
  else Deno.test({ name, ignore: true, fn() {} });
}

testInGroup(
  `a server with 256 MB that the kernel kills ${KILLS} times because memory ran out fails no read`,
  async (place) => {
    await withMemoryGroup(async (group) => {
      group.limit(256 * MIB);
      const first = await bothAlive(place);
      group.add(first.supervisor);
      // Servers inherit the score by which the kernel kills them first.
      const score = `/proc/${first.supervisor}/oom_score_adj`;
      await Deno.writeTextFile(score, "1000");
      Deno.kill(first.server, "SIGKILL"); // its successor starts in the group
      await until(async () => !await isRunning(first.server));
      const { mountpoint } = place;
      const readers = startReaders(mountpoint, READERS, COUNT, SIZE, READS);
      const begun = group.kills();
      for (let kill = 0; kill < KILLS; kill++) {
        await bothAlive(place);
        await killForWantOfMemory(group);
      }
      assert.ok(group.kills() >= begun + KILLS);
      const found = await readers.stop();
      let read = 0;
      for (const one of found) {
        assert.deepEqual(one.wrong, []);
        read += one.read;
      }
      assert.ok(read >= READERS * READS, `${read}`);
      const log = await Deno.readTextFile((await record(place)).log);
      assert.match(log, /the server died \(signal 9\).*when memory runs out/);
      await place.recordfs("unmount", mountpoint);
    });
  },
  THOROUGH, // only in `task test:faults`: the kernel may kill other processes
);

testInGroup(
  "a mount whose server has too little memory to start reports it",
  async (place, source) => {
    await place.recordfs("unmount", place.mountpoint);
    await withMemoryGroup(async (group) => {
      const said: string[] = [];
      // How much memory a server needs to start depends on the version of Deno.
      for (let mb = 160; mb >= 48; mb -= 8) {
        group.limit(mb * MIB);
        const { code, stderr } = await run([
          ...["sh", "-c", `echo $$ >"$1" && shift && exec "$@"`, "sh"],
          ...[group.procs, Deno.execPath(), "run", "-A", CLI],
          ...["mount", source, place.mountpoint],
        ], { env: place.env });
        if (code === 0) {
          await place.recordfs("unmount", place.mountpoint);
        } else if (stderr.includes("before the mount answered")) {
          said.push(stderr);
          break;
        }
      }
      assert.match(
        said[0] ?? "it was never the background's process",
        /ended by SIGKILL before .*\. The kernel killed it because memory ran out: the limit here is \d.*\. Give it 256 MB or more\n$/,
      );
    });
  },
);
