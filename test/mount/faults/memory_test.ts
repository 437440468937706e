/** Servers that run out of memory: a limit on address space, as by `ulimit -v`. */
import assert from "node:assert/strict";
import { isMounted, isRunning, until } from "../../cli/mount/mount_place.ts";
import { run } from "../../cli/run_cli.ts";
import {
  COUNT,
  record,
  serverOf,
  SIZE,
  sleep,
  test,
  testWith,
  THOROUGH,
} from "../numbers_mount.ts";
import { startReaders } from "../readers.ts";

/** Too little for Deno to start, and enough for a shell. */
const TOO_LITTLE = 1 << 30;

/** Limits the address space of a process, and of processes that it starts later. */
async function limit(pid: number, bytes: number | "unlimited"): Promise<void> {
  const limits = `--as=${bytes}:unlimited`;
  const { code, stderr } = await run([
    "prlimit",
    `--pid=${pid}`,
    limits,
  ]);
  assert.deepEqual([stderr, code], ["", 0]);
}

/** Returns how many deaths of servers the supervisor has logged. */
async function deaths(log: string): Promise<number> {
  const text = await Deno.readTextFile(log);
  return text.split("the server died (").length - 1;
}

/** Reads a file with O_DIRECT in a process with a timeout. */
async function expectAnswer(path: string): Promise<void> {
  const { code, stderr } = await run([
    ...["timeout", "--signal=KILL", "180"],
    ...["dd", `if=${path}`, "iflag=direct", "bs=128k", "status=none"],
  ]);
  assert.deepEqual([stderr, code], ["", 0]);
}

test(
  "a server at its memory limit continues, or dies and is replaced; no read fails",
  async (place, source) => {
    const rounds = THOROUGH ? 30 : 4;
    const { mountpoint } = place;
    // With --trace a server allocates for each request. Without it, a server may live on memory it already has.
    const { stderr, code } = await place.recordfs(
      ...["mount", "--replace", "--trace", source, mountpoint],
    );
    assert.deepEqual([stderr, code], ["", 0]);
    const readers = startReaders(mountpoint, 4, COUNT, SIZE, rounds + 1);
    for (let round = 0; round < rounds; round++) {
      const { pid } = await record(place);
      if (await isRunning(pid)) await limit(pid, TOO_LITTLE);
      await sleep(500);
      await expectAnswer(`${mountpoint}/00000${round % 10}`);
    }
    for (const { read, wrong } of await readers.stop()) {
      assert.deepEqual(wrong, []);
      assert.ok(read > rounds, `only ${read} files were read`);
    }
  },
  "prlimit",
);

test(
  "while there is no memory for a server readers wait, and then continue",
  async (place) => {
    const { pid, log, supervised } = await record(place);
    const supervisor = supervised.supervisor.pid;
    await limit(supervisor, TOO_LITTLE);
    Deno.kill(pid, "SIGKILL");
    const reading = Deno.readFile(`${place.mountpoint}/000007`);
    reading.catch(() => {}); // awaited below
    await until(async () => await deaths(log) >= 3);
    await limit(supervisor, "unlimited");
    assert.equal((await reading)[0], 7);
    await until(async () => await isRunning((await record(place)).pid));
    assert.ok(await serverOf(supervisor) !== undefined);
  },
  "prlimit",
);

testWith(
  { patience: 2 },
  "if no server has enough memory, the mount is dead, and the log reports it",
  async (place) => {
    const { pid, log, supervised } = await record(place);
    const supervisor = supervised.supervisor.pid;
    await limit(supervisor, TOO_LITTLE);
    Deno.kill(pid, "SIGKILL");
    await assert.rejects(Deno.readFile(`${place.mountpoint}/000007`));
    await until(async () => !await isRunning(supervisor));
    assert.ok(await isMounted(place.mountpoint));
    const text = await Deno.readTextFile(log);
    assert.match(text, /memory/);
    assert.match(
      text,
      /for 2 seconds no server has lived for one.*; the mount is dead\n$/,
    );
  },
  "prlimit",
);
