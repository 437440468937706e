/** Mount records, and files next to them, that another user has written. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { identify } from "../../src/cli/mount/processes.ts";
import {
  isMounted,
  isRunning,
  type MountPlace,
  until,
  withMountPlace,
} from "../cli/mount/mount_place.ts";
import { inNamespace } from "../cli/mount/own_run.ts";
import { assertFailed, CLI, type Ran, run } from "../cli/run_cli.ts";
import { LONG } from "../support/long.ts";
import { needs } from "../support/programs/programs.ts";
import { SPECIAL_FILES } from "../support/programs/special_files.ts";
import { FileServer } from "../support/remote/file_server.ts";
import { asOrdinaryUser } from "../support/programs/users.ts";
import { bothAlive, pathOfRecord, record } from "./numbers_mount.ts";
import {
  ARCHIVE,
  bounded,
  LIMIT,
  mountSmall,
  withBystanders,
} from "./small_mount.ts";

/** Debian's `nobody`. */
const OTHER = 65534;

const SECRET = "X-Key: secret-of-root";

function test(name: string, body: (place: MountPlace) => Promise<void>): void {
  Deno.test({ name, ...needs("fuse", "root"), fn: () => withMountPlace(body) });
}

/** Kills both processes of a mount and removes its record, so that only the kernel knows the mount. */
async function killAll(place: MountPlace): Promise<void> {
  const { server, supervisor } = await bothAlive(place);
  Deno.kill(supervisor, "SIGSTOP"); // or it would start another server
  Deno.kill(server, "SIGKILL");
  Deno.kill(supervisor, "SIGKILL");
  await until(async () =>
    !await isRunning(server) && !await isRunning(supervisor)
  );
  for (const name of fs.readdirSync(place.state)) {
    fs.unlinkSync(`${place.state}/${name}`);
  }
}

/** Creates a runtime directory of another user that contains a state directory. */
function foreignRuntime({ dir }: MountPlace, owner = OTHER): string {
  const runtime = `${dir}/theirs`;
  fs.mkdirSync(`${runtime}/recordfs`, { recursive: true, mode: 0o755 });
  fs.chownSync(runtime, owner, owner);
  fs.chownSync(`${runtime}/recordfs`, owner, owner);
  return runtime;
}

test("root's unmount signals no process that another user's record names", async (place) => {
  await mountSmall(place);
  await withBystanders(1, async ([bystander]) => {
    const runtime = foreignRuntime(place);
    const env = { ...place.env, XDG_RUNTIME_DIR: runtime };
    const real = JSON.parse(fs.readFileSync(await pathOfRecord(place), "utf8"));
    const supervised = { ...real.supervised, supervisor: identify(bystander!) };
    fs.writeFileSync(
      `${runtime}/recordfs/x.json`,
      JSON.stringify({ ...real, startTicks: 1, supervised }, null, 2),
    );
    await killAll(place);
    const { stderr, code } = await bounded(["unmount", place.mountpoint], env);
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal(await isMounted(place.mountpoint), false);
    assert.ok(fs.existsSync(`${runtime}/recordfs/x.json`));
  });
});

test("a pipe in another user's directory blocks neither mounts nor unmount", async (place) => {
  await mountSmall(place);
  const runtime = foreignRuntime(place);
  SPECIAL_FILES["a pipe"]!(`${runtime}/recordfs/x.json`, "");
  const env = { ...place.env, XDG_RUNTIME_DIR: runtime };
  for (const args of [["mounts", "--json"], ["unmount", place.mountpoint]]) {
    const { stderr, code } = await bounded(args, env);
    assert.deepEqual([stderr, code], ["", 0]);
  }
});

test("mount --replace writes through no link that another user has prepared, and reveals no header", async (place) => {
  const { dir, mountpoint } = place;
  fs.mkdirSync(`${dir}/root`);
  fs.writeFileSync(`${dir}/root/x.tar`, ARCHIVE);
  await using server = await FileServer.start(`${dir}/root`);
  const url = `${server.url}/x.tar`;
  const options = ["--header", SECRET, "--cache-dir", `${dir}/cache`];
  const args = [...options, url, mountpoint];
  const mounted = await place.recordfs("mount", ...args);
  assert.deepEqual([mounted.stderr, mounted.code], ["", 0]);
  await until(async () => (await record(place)).supervised.resumable);
  const victim = `${dir}/victim`;
  fs.writeFileSync(victim, "of root alone", { mode: 0o600 });
  const runtime = foreignRuntime(place);
  const state = `${runtime}/recordfs`;
  await withBystanders(2, async ([first, second]) => {
    const real = JSON.parse(fs.readFileSync(await pathOfRecord(place), "utf8"));
    const supervised = { ...real.supervised, supervisor: identify(first!) };
    fs.writeFileSync(
      `${state}/x.json`,
      JSON.stringify({ ...real, ...identify(second!), supervised }, null, 2),
    );
    fs.symlinkSync(victim, `${state}/x.next`);
    fs.writeFileSync(`${state}/x.hidden`, "");
    fs.chmodSync(`${state}/x.hidden`, 0o666);
    await killAll(place);
    const { stderr, code } = await bounded(
      ["mount", "--replace", ...args],
      { ...place.env, XDG_RUNTIME_DIR: runtime },
    );
    assert.deepEqual([stderr, code], ["", 0]);
    assert.equal(fs.readFileSync(`${mountpoint}/a.txt`, "utf8"), "a");
  });
  assert.equal(fs.readFileSync(victim, "utf8"), "of root alone");
  assert.equal(fs.readFileSync(`${state}/x.hidden`, "utf8"), "");
  assert.deepEqual(fs.readdirSync(state), ["x.hidden", "x.json", "x.next"]);
});

/** Ways to make root's state directory unusable, by the reason in the message. */
const SPOILT: Record<string, (runtime: string) => void> = {
  "it is not a directory": (runtime) =>
    fs.writeFileSync(`${runtime}/recordfs`, ""),
  "or is a symbolic link": (runtime) => {
    fs.mkdirSync(`${runtime}/own`, 0o700);
    fs.symlinkSync("own", `${runtime}/recordfs`);
  },
  "it belongs to user 65534": (runtime) => {
    fs.mkdirSync(`${runtime}/recordfs`, 0o700);
    fs.chownSync(`${runtime}/recordfs`, OTHER, OTHER);
  },
  "it may be entered by other users": (runtime) => {
    fs.mkdirSync(`${runtime}/recordfs`);
    fs.chmodSync(`${runtime}/recordfs`, 0o750);
  },
  "/run belongs to user 65534": (runtime) => {
    fs.mkdirSync(`${runtime}/recordfs`, 0o700);
    fs.chownSync(runtime, OTHER, OTHER);
  },
  "/run may be changed by other users": (runtime) =>
    fs.chmodSync(runtime, 0o777),
};

for (const [reason, spoil] of Object.entries(SPOILT)) {
  test(`root mounts in the foreground only if ${reason}`, async (place) => {
    const { dir, mountpoint } = place;
    const source = `${dir}/x.tar`;
    fs.writeFileSync(source, ARCHIVE);
    const runtime = `${dir}/run`;
    spoil(runtime);
    const before = fs.readdirSync(runtime);
    // Root must not fall back to either of these directories: other users can create them.
    const env = { ...place.env, XDG_RUNTIME_DIR: `${dir}/session` };
    fs.mkdirSync(env.XDG_RUNTIME_DIR, 0o700);
    const why = RegExp.escape(reason);
    const said = `\\/run\\/recordfs: .*${why}.*\\. Mount with -f\n$`;
    const refused = await bounded(["mount", source, mountpoint], env);
    assertFailed(
      refused,
      1,
      new RegExp(`^recordfs: Cannot keep records of mounts in ${said}`),
    );
    assert.equal(await isMounted(mountpoint), false);
    assert.deepEqual(fs.readdirSync(env.XDG_RUNTIME_DIR), []);
    assert.deepEqual(fs.readdirSync(runtime), before);
    if (!LONG && !reason.startsWith("it belongs")) return;
    await foregroundWorks(place, source, why, env);
  });
}

/** Mounts with `-f`, lists and unmounts without a state directory. */
async function foregroundWorks(
  { mountpoint }: MountPlace,
  source: string,
  why: string,
  env: Record<string, string>,
): Promise<void> {
  const [program, ...args] = inNamespace(
    [Deno.execPath(), "run", "-A", CLI, "mount", "-f", source, mountpoint],
    env,
  );
  const child = new Deno.Command(program!, {
    args,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  await until(() => isMounted(mountpoint));
  assert.equal(fs.readFileSync(`${mountpoint}/a.txt`, "utf8"), "a");
  const listed = await bounded(["mounts", "--json"], env);
  assert.match(
    listed.stderr,
    new RegExp(
      `^recordfs: warning: Records of mounts in /run/recordfs are ignored: .*${why}[^\n]*\n$`,
    ),
  );
  const mounts = JSON.parse(listed.stdout) as Record<string, unknown>[];
  const mount = mounts.find((mount) => mount.mountpoint === mountpoint);
  assert.deepEqual([mount?.source, mount?.pid], [source, null]);
  const unmounted = await bounded(["unmount", mountpoint], env);
  assert.match(
    unmounted.stderr,
    /^recordfs: warning: [^\n]*are ignored[^\n]*\n$/,
  );
  assert.equal(unmounted.code, 0);
  const { code, stderr } = await output;
  assert.match(
    new TextDecoder().decode(stderr),
    /^recordfs: warning: Cannot keep records of mounts in .*\n.* is mounted on /,
  );
  assert.equal(code, 0);
}

/** Runs `body` as a user with a random UID, without a session: `HOME` is set, and `XDG_RUNTIME_DIR` is not. */
async function asStranger(
  body: (stranger: {
    readonly uid: number;
    readonly home: string;
    readonly state: string;
    recordfs(
      args: readonly string[],
      session?: string,
      umask?: string,
    ): Promise<Ran>;
  }) => Promise<void>,
): Promise<void> {
  await asOrdinaryUser(async ({ home, project, deno }) => {
    const uid = 1_000_000 +
      crypto.getRandomValues(new Uint32Array(1))[0]! % 1e9;
    fs.chmodSync(home, 0o755);
    const own = `${home}/own`;
    fs.mkdirSync(own, 0o700);
    fs.chownSync(own, uid, uid);
    const state = `/tmp/recordfs-${uid}`;
    const env = { HOME: own, DENO_DIR: `${project}../cache` };
    const user = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`];
    const program = [deno, "run", "-A", `${project}cli.ts`];
    try {
      await body({
        ...{ uid, home: own, state },
        recordfs: async (args, session, umask = "022") => {
          const ran = await run([
            ...["sh", "-c", 'umask "$0" && exec "$@"', umask],
            ...["timeout", LIMIT, ...user, "--clear-groups"],
            ...["env", "--unset=XDG_RUNTIME_DIR"],
            ...session === undefined ? [] : [`XDG_RUNTIME_DIR=${session}`],
            ...[...program, ...args],
          ], { env, cwd: own });
          assert.notEqual(ran.code, 124, `${args.join(" ")} does not end`);
          return ran;
        },
      });
    } finally {
      fs.rmSync(state, { recursive: true, force: true });
    }
  });
}

Deno.test({
  name:
    "another user's /tmp/recordfs-UID is ignored, and no mount is made with it",
  ...needs("root", "fuse", "setpriv"),
  fn: () =>
    asStranger(async ({ uid, home, state, recordfs }) => {
      const source = `${home}/x.tar`;
      const mountpoint = `${home}/mnt`;
      fs.writeFileSync(source, ARCHIVE);
      fs.mkdirSync(mountpoint);
      fs.chownSync(mountpoint, uid, uid);
      const makers: Record<string, () => void> = {
        [`it belongs to user ${OTHER}`]() {
          fs.mkdirSync(state);
          fs.chmodSync(state, 0o777);
          fs.chownSync(state, OTHER, OTHER);
          SPECIAL_FILES["a pipe"]!(`${state}/x.json`, "");
        },
        "is a symbolic link"() {
          fs.mkdirSync(`${home}/private`, 0o700);
          fs.chownSync(`${home}/private`, uid, uid);
          SPECIAL_FILES["a pipe"]!(`${home}/private/x.json`, "");
          fs.symlinkSync(`${home}/private`, state);
        },
      };
      for (const [reason, make] of Object.entries(makers)) {
        make();
        const listed = await recordfs(["mounts"]);
        assert.match(
          listed.stderr,
          new RegExp(
            `^recordfs: warning: Records of mounts in ${state} are ignored: [^\n]*${reason}\n$`,
          ),
        );
        assert.equal(listed.code, 0);
        const mounted = await recordfs(["mount", source, mountpoint]);
        assertFailed(
          mounted,
          1,
          new RegExp(
            `^recordfs: Cannot keep records of mounts in ${state}: .*${reason}\\. ` +
              "Set XDG_RUNTIME_DIR to a directory of your own, or mount with -f\n$",
          ),
        );
        fs.rmSync(state, { recursive: true });
      }
    }),
});

Deno.test({
  name: "/tmp/recordfs-UID is created for its user only, whatever the umask",
  ...needs("root", "fuse", "setpriv"),
  fn: () =>
    asStranger(async ({ uid, home, state, recordfs }) => {
      for (const umask of ["0", "777"]) {
        const args = ["mount", `${home}/missing.tar`, home];
        const mounted = await recordfs(args, undefined, umask);
        assertFailed(mounted, 1, /missing\.tar/);
        const stat = fs.statSync(state);
        assert.deepEqual([stat.uid, stat.mode & 0o7777], [uid, 0o700]);
        assert.deepEqual(fs.readdirSync(state), []);
        fs.rmdirSync(state);
      }
    }),
});

Deno.test({
  name: "a session's directory of another user is rejected, whatever is in it",
  ...needs("root", "fuse", "setpriv"),
  fn: () =>
    asStranger(async ({ uid, home, recordfs }) => {
      const session = `${home}/session`;
      const state = `${session}/recordfs`;
      fs.mkdirSync(state, { recursive: true });
      SPECIAL_FILES["a pipe"]!(`${state}/x.json`, "");
      fs.chmodSync(state, 0o700);
      fs.chownSync(state, uid, uid);
      for (
        const [owner, mode, reason] of [
          [OTHER, 0o755, `${session} belongs to user ${OTHER}`],
          [uid, 0o777, `${session} may be changed by other users`],
        ] as const
      ) {
        fs.chownSync(session, owner, owner);
        fs.chmodSync(session, mode);
        const listed = await recordfs(["mounts"], session);
        assert.match(listed.stderr, new RegExp(`^[^\n]*${reason}[^\n]*\n$`));
        assert.equal(listed.code, 0);
        const args = ["mount", home, home];
        const mounted = await recordfs(args, session);
        assertFailed(mounted, 1, new RegExp(`: ${reason}.*XDG_RUNTIME_DIR`));
      }
    }),
});
