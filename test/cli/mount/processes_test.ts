import assert from "node:assert/strict";
import {
  identify,
  isRunning,
  readDescriptor,
  sendSignal,
} from "../../../src/cli/mount/processes.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

/** Runs `body` with an idle process, and returns how the process ended. */
async function withSleeper(
  body: (pid: number) => void,
  uid?: number,
): Promise<Deno.CommandStatus> {
  const child = new Deno.Command("sleep", {
    args: ["300"],
    ...uid === undefined ? {} : { uid },
  }).spawn();
  try {
    body(child.pid);
  } catch (error) {
    child.kill("SIGKILL");
    await child.status;
    throw error;
  }
  return await child.status;
}

Deno.test("a process is signalled if its user and its start time are as recorded", async () => {
  const { signal } = await withSleeper((pid) => {
    const process = identify(pid)!;
    assert.equal(process.uid, Deno.uid());
    const { startTicks, uid } = process;
    for (
      const other of [
        { ...process, startTicks: startTicks + 1 },
        { ...process, startTicks: 0 },
        { ...process, uid: uid + 1 },
      ]
    ) {
      assert.equal(isRunning(other), false);
      sendSignal(other, "SIGKILL");
    }
    // If a SIGKILL had been sent, the process would have ended by it.
    sendSignal(process, "SIGTERM");
  });
  assert.equal(signal, "SIGTERM");
});

Deno.test("a process that has ended is no longer signalled", async () => {
  let process: ReturnType<typeof identify>;
  await withSleeper((pid) => {
    process = identify(pid)!;
    sendSignal(process, "SIGKILL");
  });
  sendSignal(process!, "SIGKILL");
  assert.equal(isRunning(process!), false);
});

Deno.test({
  name: "processes of another user are recognised by the user",
  ...needs("root"),
  async fn() {
    const { signal } = await withSleeper((pid) => {
      const { uid, ...process } = identify(pid)!;
      assert.equal(uid, 65534);
      sendSignal({ ...process, uid: 0 }, "SIGKILL");
      sendSignal({ ...process, uid }, "SIGTERM");
    }, 65534);
    assert.equal(signal, "SIGTERM");
  },
});

Deno.test("of the files that a process has open, only regular files of limited size are read", () =>
  withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/file`, "content");
    const child = new Deno.Command("sh", {
      args: [
        "-c",
        'mkfifo "$0/pipe"; echo >&2; exec sleep 300 3<"$0/file" 4<>"$0/pipe"',
        dir,
      ],
      stderr: "piped",
    }).spawn();
    const said = child.stderr.getReader();
    try {
      await said.read();
      while (identify(child.pid) !== undefined) {
        const name = await Deno.readTextFile(`/proc/${child.pid}/comm`);
        if (name === "sleep\n") break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const content = new TextEncoder().encode("content");
      assert.deepEqual(readDescriptor(child.pid, 3, 7), content);
      assert.equal(readDescriptor(child.pid, 3, 6), undefined);
      assert.equal(readDescriptor(child.pid, 4, 7), undefined);
    } finally {
      child.kill("SIGKILL");
      await said.cancel();
      await child.status;
    }
  }));
