/**
 * State directories of mounts that another user has filled: invalid records must be reported, no link followed and no
 * pipe waited for.
 */
import * as fs from "node:fs";
import { MountFiles } from "../../../src/cli/mount/mount_files.ts";
import { recordsIn } from "../../../src/cli/mount/mount_records.ts";
import {
  NotPrivateError,
  PrivateDirectory,
} from "../../../src/io/dirfd/private_directory.ts";
import { systemCode } from "../../../src/io/libc/system_error.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { Captured } from "../../support/programs/captured.ts";
import { succeeds } from "../../support/programs/programs.ts";
import {
  OF_ROOT,
  SPECIAL_FILES,
} from "../../support/programs/special_files.ts";
import type { Dice } from "../dice.ts";
import { Draft } from "../draft.ts";
import { BYTE_MUTATIONS } from "../mutations/bytes.ts";
import { EVIL_NAMES } from "../mutations/evil.ts";
import { TEXT_MUTATIONS } from "../mutations/texts.ts";
import type { Scene } from "../scene.ts";
import { judge } from "./commands.ts";
import type { Drive } from "./drive.ts";

export const recordsDrive: Drive = {
  name: "records",
  every: 8,
  run,
};

/** One in this many of these cases also runs the program. */
const PROGRAMS = 40;

const isRoot = Deno.uid() === 0;
const KINDS = Object.keys(SPECIAL_FILES).filter((kind) =>
  isRoot || !OF_ROOT.has(kind)
);
/** Whether a program can have its own `/run`, where root's records are. */
const hasOwnRun = isRoot && succeeds("unshare", "--mount", "true");

const ENDINGS = ["json", "log", "stats", "dead", "command", "next", "hidden"];
const MUTATIONS = [...BYTE_MUTATIONS, ...TEXT_MUTATIONS];
const VICTIM = "nobody may write to this";

/** Base of all records. It names no process but pid 2, and only absolute paths, so that using it harms nothing. */
const RECORD = {
  ...{ pid: 2, startTicks: 1, uid: Deno.uid(), source: "/data/x.tar" },
  ...{ mountpoint: "/mnt/x", log: null, started: "", mountedTicks: 5 },
  ...{ version: "0.1.0", device: "0:41", container: "abc" },
  job: {
    source: "/data/x.tar",
    sources: [{ location: "/data/x.tar", path: "x" }],
    ...{ mountpoint: "/mnt/x", options: "", decoded: false, trace: false },
    ...{ workers: 2, remote: { header: ["X: y"] }, onFailure: "dead" },
    shuffle: { seed: 1, firstEpoch: 0, epochs: 2 },
  },
  supervised: {
    supervisor: { pid: 3, startTicks: 1, uid: Deno.uid() },
    ...{ restarts: 0, servingTicks: 5, resumable: true },
    agreed: { minor: 40, flags: -1, moreFlags: 0 },
    ...{ counts: 87, held: [22, 23] },
  },
};

async function run(scene: Scene): Promise<void> {
  const { dice } = scene;
  const runtime = scene.output();
  const victim = scene.output();
  const state = `${runtime}/recordfs`;
  fs.mkdirSync(state, { recursive: true });
  fs.chmodSync(runtime, 0o700);
  fs.chmodSync(state, 0o700);
  fs.writeFileSync(victim, VICTIM);
  fill(state, victim, scene);
  const isRefused = dice.once(8) && spoil(runtime, dice);
  const opened = scene.attemptSync("open", () => PrivateDirectory.open(state));
  if (opened.ok === isRefused) {
    scene.report("disagreement", `refused: ${isRefused}`);
  }
  if (opened.ok) {
    await use(scene, opened.value);
    opened.value.close();
  }
  if (dice.once(PROGRAMS)) await asProgram(scene, runtime);
  if (fs.readFileSync(victim, "utf8") !== VICTIM) {
    scene.report("escape", "what a link leads to was written to");
  }
}

/** Writes records and other files into a state directory: valid, damaged, and of other types. */
function fill(state: string, victim: string, scene: Scene): void {
  const { dice } = scene;
  for (let i = dice.size(1, 12); i > 0; i--) {
    const id = dice.once(4)
      ? dice.pick(EVIL_NAMES).replaceAll(/[/\0]/g, "_").slice(0, 80)
      : `${i}`;
    for (const ending of ["json", dice.pick(ENDINGS)]) {
      const path = `${state}/${id}.${ending}`;
      if (fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
      if (dice.once(4)) SPECIAL_FILES[dice.pick(KINDS)]!(path, victim);
      else fs.writeFileSync(path, damaged(scene), { mode: 0o600 });
    }
  }
}

/** Returns a record, possibly mixed with parts of a container. */
function damaged({ dice, original }: Scene): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(RECORD, null, 2));
  const draft = new Draft(new Map([["record.json", text]]));
  for (let i = dice.int(4); i > 0; i--) {
    dice.weighed(MUTATIONS).apply(draft, dice, { originals: [original] });
  }
  return draft.bytes("record.json");
}

/** Gives a directory to another user, or makes it writable for others. */
function spoil(runtime: string, dice: Dice): boolean {
  const place = dice.pick([runtime, `${runtime}/recordfs`]);
  if (isRoot && dice.once(2)) fs.chownSync(place, 65534, 65534);
  else fs.chmodSync(place, place === runtime ? 0o777 : 0o755);
  return true;
}

async function use(scene: Scene, directory: PrivateDirectory): Promise<void> {
  const output = new Captured();
  const recorded = await scene.attempt(
    "records",
    () => output.during(() => Promise.resolve(recordsIn(directory))),
  );
  if (!recorded.ok) return;
  for (const { record } of recorded.value) {
    const { pid, uid, mountpoint, supervised } = record;
    const ids = [{ pid, uid }, supervised?.supervisor ?? { pid, uid }];
    const isSound = ids.every(({ pid, uid }) =>
      Number.isInteger(pid) && pid > 1 && Number.isInteger(uid) && uid >= 0
    ) && mountpoint.startsWith("/") &&
      (supervised?.held ?? []).every((fd) =>
        Number.isInteger(fd) && fd >= 0
      );
    if (!isSound) scene.report("wrong-bytes", JSON.stringify({ pid, uid }));
  }
  const ids = directory.list().map((name) => name.replace(/\.[^.]*$/, ""));
  for (const id of new Set(ids)) {
    await useFiles(scene, new MountFiles(directory, id));
  }
}

/** Performs all operations of a mount's processes on its files. */
async function useFiles(scene: Scene, files: MountFiles): Promise<void> {
  await tried(scene, "end of the log", () => files.readLogEnd(1 << 16));
  await tried(scene, "overwrite the log", () => files.overwrite("log", "x"));
  for (
    const kind of [
      "json",
      "stats",
      "dead",
      "command",
      "next",
      "hidden",
    ] as const
  ) {
    await tried(scene, `read ${kind}`, () => files.read(kind));
    await tried(scene, `overwrite ${kind}`, () => files.overwrite(kind, "x"));
    await tried(scene, `write ${kind}`, () => files.write(kind, "{}"));
  }
  await tried(scene, "rename", () => files.rename("next", "command"));
  await tried(scene, "remove", () => files.remove("json", "log", "hidden"));
}

/** Runs an operation that the system may refuse, for example because the path is a directory. */
async function tried(
  scene: Scene,
  step: string,
  act: () => unknown,
): Promise<void> {
  await scene.attempt(step, () => {
    try {
      act();
    } catch (error) {
      const isExpected = error instanceof NotPrivateError ||
        error instanceof Deno.errors.NotFound ||
        systemCode(error) !== undefined;
      if (!isExpected) throw error;
    }
  });
}

/** Runs `recordfs mounts` with this runtime directory. */
async function asProgram(scene: Scene, runtime: string): Promise<void> {
  const args = ["mounts", "--json"];
  const command = [
    Deno.execPath(),
    "run",
    "-A",
    `${REPOSITORY}cli.ts`,
    ...args,
  ];
  const covered = 'mount --bind "$0" /run && exec "$@"';
  const within = hasOwnRun
    ? ["unshare", "--mount", "sh", "-c", covered, runtime]
    : [];
  const [program, ...rest] = [...within, ...command];
  const ended = await scene.attempt(
    "recordfs mounts as a program",
    () =>
      new Deno.Command(program!, {
        args: rest,
        env: { XDG_RUNTIME_DIR: runtime },
        stdin: "null",
      }).output(),
  );
  if (!ended.ok) return;
  const { code, stderr } = ended.value;
  judge(scene, args, code, new TextDecoder().decode(stderr));
}
