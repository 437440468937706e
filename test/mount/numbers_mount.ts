/** A background mount of files with known content, for tests that read it while something happens to it. */
import assert from "node:assert/strict";
import {
  childrenOf,
  isRunning,
  type MountPlace,
  namesIn,
  until,
  withLogHere,
  withMountPlace,
} from "../cli/mount/mount_place.ts";
import { isStale } from "../../fuse/mounting/mountinfo.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";
import { needs } from "../support/programs/programs.ts";

/** Set by `deno task test:faults`, which repeats everything more often. */
export const THOROUGH = Deno.env.get("RECORDFS_FAULTS") === "1";

/** Number of files. */
export const COUNT = THOROUGH ? 10_000 : 500;

/** Size of each file in bytes. */
export const SIZE = 20_000;

/** Options of a mount for a test. */
export interface HowToMount {
  /** Options of `mount`. */
  readonly options?: readonly string[];
  /** How long only failures may occur before the supervisor gives up, in seconds. */
  readonly patience?: number;
}

/** Runs a test with such a mount. File N contains the 4-byte integer N, repeated. */
export function test(
  name: string,
  body: (place: MountPlace, source: string) => Promise<void>,
  ...more: string[]
): void {
  testWith({}, name, body, ...more);
}

/** Runs a test with a mount that has these options. */
export function testWith(
  { options = [], patience }: HowToMount,
  name: string,
  body: (place: MountPlace, source: string) => Promise<void>,
  ...more: string[]
): void {
  Deno.test({
    name,
    ...needs("fuse", "python3", ...more),
    fn: () =>
      withMountPlace(async (place) => {
        const source = `${place.dir}/numbers.ffr`;
        await writeNumbers(source);
        if (patience !== undefined) {
          place.env.RECORDFS_GIVE_UP_AFTER = `${patience}`;
        }
        const { mountpoint } = place;
        const args = ["mount", ...options, source, mountpoint];
        const { stderr, code } = await place.recordfs(...args);
        assert.deepEqual([stderr, code], ["", 0]);
        await until(async () => (await record(place)).supervised.resumable);
        await body(place, source);
      }),
  });
}

/** Writes a container of samples that contain their own index, repeated. */
export async function writeNumbers(path: string): Promise<void> {
  const samples = Array.from({ length: COUNT }, (_, number) => {
    const words = new Uint32Array(SIZE / 4).fill(number);
    return new Uint8Array(words.buffer);
  });
  await Deno.writeFile(path, ffrBytes(samples));
}

/** The fields of a mount's record that tests use. */
export interface MountFacts {
  readonly pid: number;
  readonly log: string;
  readonly supervised: {
    readonly supervisor: { readonly pid: number };
    readonly restarts: number;
    readonly resumable: boolean;
  };
}

/** Returns the path of the only record. */
export async function pathOfRecord({ state }: MountPlace): Promise<string> {
  const name = (await namesIn(state)).find((name) => name.endsWith(".json"));
  assert.ok(name, `no record in ${state}`);
  return `${state}/${name}`;
}

/** Reads the only record. */
export async function record(place: MountPlace): Promise<MountFacts> {
  const text = await Deno.readTextFile(await pathOfRecord(place));
  return withLogHere(place.state, JSON.parse(text));
}

/** Waits until both processes of a mount are running, and returns their ids. */
export async function bothAlive(
  place: MountPlace,
): Promise<{ readonly server: number; readonly supervisor: number }> {
  let facts: MountFacts | undefined;
  await until(async () => {
    facts = await record(place).catch(() => undefined);
    return await isRunning(facts?.pid) &&
      await isRunning(facts?.supervised.supervisor.pid);
  });
  const { pid, supervised } = facts!;
  return { server: pid, supervisor: supervised.supervisor.pid };
}

/** Kills both processes of a mount, and waits until they have ended. */
export async function killAll(place: MountPlace): Promise<void> {
  const { server, supervisor } = await bothAlive(place);
  for (const pid of [supervisor, server]) Deno.kill(pid, "SIGKILL");
  for (const pid of [supervisor, server]) {
    await until(async () => !await isRunning(pid));
  }
  await until(() => isStale(place.mountpoint));
}

/** Returns the running server, whether starting or serving; `undefined` between two servers. */
export async function serverOf(
  supervisor: number,
): Promise<number | undefined> {
  const [child] = await childrenOf(supervisor);
  if (child === undefined) return undefined;
  const name = await Deno.readTextFile(`/proc/${child}/comm`).catch(() => "");
  return name.startsWith("deno") ? child : undefined; // the supervisor may also run `sleep`
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
