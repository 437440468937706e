/** A mount in the background of files of known content, to be read while things happen to it. */
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

/** `deno task test:faults` does everything more often. */
export const THOROUGH = Deno.env.get("RECORDFS_FAULTS") === "1";

/** How many files there are. */
export const COUNT = THOROUGH ? 10_000 : 500;

/** Bytes of each. */
export const SIZE = 20_000;

/** How such a mount is made. */
export interface HowToMount {
  /** Options of `mount`. */
  readonly options?: readonly string[];
  /** How long there may be nothing but failures before it is given up, in seconds. */
  readonly patience?: number;
}

/** Runs a test with such a mount; file N holds N as 4 bytes, over and over. */
export function test(
  name: string,
  body: (place: MountPlace, source: string) => Promise<void>,
  ...more: string[]
): void {
  testWith({}, name, body, ...more);
}

/** Likewise, with a mount of that kind. */
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

/** Samples that hold their own number over and over. */
export async function writeNumbers(path: string): Promise<void> {
  const samples = Array.from({ length: COUNT }, (_, number) => {
    const words = new Uint32Array(SIZE / 4).fill(number);
    return new Uint8Array(words.buffer);
  });
  await Deno.writeFile(path, ffrBytes(samples));
}

/** The record of a mount, as far as tests look at it. */
export interface MountFacts {
  readonly pid: number;
  readonly log: string;
  readonly supervised: {
    readonly supervisor: { readonly pid: number };
    readonly restarts: number;
    readonly resumable: boolean;
  };
}

/** Where the only record is. */
export async function pathOfRecord({ state }: MountPlace): Promise<string> {
  const name = (await namesIn(state)).find((name) => name.endsWith(".json"));
  assert.ok(name, `no record in ${state}`);
  return `${state}/${name}`;
}

/** The only record, as it stands now. */
export async function record(place: MountPlace): Promise<MountFacts> {
  const text = await Deno.readTextFile(await pathOfRecord(place));
  return withLogHere(place.state, JSON.parse(text));
}

/** Waits until both processes of a mount live, and says which they are. */
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

/** The server that runs now, at its start or long at work; `undefined` between two. */
export async function serverOf(
  supervisor: number,
): Promise<number | undefined> {
  const [child] = await childrenOf(supervisor);
  if (child === undefined) return undefined;
  const name = await Deno.readTextFile(`/proc/${child}/comm`).catch(() => "");
  return name.startsWith("deno") ? child : undefined; // not `sleep`
}

/** Waits. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
