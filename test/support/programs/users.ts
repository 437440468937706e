/** Runs programs as root and as an ordinary user, each with a copy of the project that the user can read. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { withOpenFuseDevice } from "./fuse_device.ts";
import { REPOSITORY } from "../paths.ts";
import { everybodyEnters } from "./machine.ts";
import { denoCaches, PYTHON, VENV } from "./programs.ts";

/** Debian's `nobody`. */
export const NOBODY = 65534;

/** Output and exit code of a program. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A user who runs programs. */
export interface User {
  readonly name: string;
  /** Home directory of the user. */
  readonly home: string;
  /** Root of the project, or of a copy that the user can read. */
  readonly project: string;
  /** Path of a Deno that the user can run. */
  readonly deno: string;
  /** Path of a Python that the user can run, with the packages of the tests. */
  readonly python: string;
  /** Gives a path that a test created to the user, and makes it readable whatever the umask was. */
  own(path: string): Promise<void>;
  /** Runs a program in the user's home. */
  run(program: string, ...args: string[]): Promise<Finished>;
  /** Runs a program that must exit with 0, and returns its output. */
  do(program: string, ...args: string[]): Promise<string>;
  /** Runs `recordfs` from the command line. */
  recordfs(...args: string[]): Promise<Finished>;
}

/** Runs `body` as the user who runs the tests. */
export async function asSelf(
  body: (user: User) => Promise<void>,
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "recordfs-self-" });
  try {
    await Deno.mkdir(`${home}/run`, { mode: 0o700 });
    const programs = {
      project: REPOSITORY,
      deno: Deno.execPath(),
      python: PYTHON,
    };
    await body(makeUser("self", home, programs));
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/**
 * Runs `body` as an ordinary user with an empty home; needs root. Files that only root can read (a clone in root's
 * home, Deno itself) are copied once for all tests of a run, or of a file.
 */
export async function asOrdinaryUser(
  body: (user: User) => Promise<void>,
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "recordfs-nobody-" });
  try {
    const copies = await (copied ??= copyForOrdinaryUser());
    fs.mkdirSync(`${home}/run`, { mode: 0o700 });
    await succeed("chown", "-R", `${NOBODY}:${NOBODY}`, home);
    const user = makeUser(
      "nobody",
      home,
      {
        project: `${copies}/project/`,
        deno: `${copies}/deno`,
        python: everybodyEnters(REPOSITORY)
          ? PYTHON
          : PYTHON.replace(VENV, `${copies}/venv`),
      },
      { HOME: home, DENO_DIR: `${copies}/cache` },
      { uid: NOBODY, gid: NOBODY },
    );
    await withOpenFuseDevice(() => body(user));
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

let copied: Promise<string> | undefined;

/** Returns a directory with copies of the project, Deno, its packages, and the Python environment. */
async function copyForOrdinaryUser(): Promise<string> {
  // Set by `task test`, which removes the directory.
  const place = Deno.env.get("RECORDFS_TEST_PLACE");
  if (place !== undefined) return await copyOnce(place);
  const dir = fs.mkdtempSync(`${tmpdir()}/recordfs-nobody-`);
  addEventListener("unload", () => fs.rmSync(dir, { recursive: true }));
  await fillForOrdinaryUser(dir);
  return dir;
}

/** Returns the shared copies in a directory. The first process makes them, and the others wait. */
async function copyOnce(place: string): Promise<string> {
  const dir = `${place}/nobody`;
  try {
    fs.mkdirSync(`${dir}.part`);
  } catch {
    for (let waited = 0; !fs.existsSync(dir); waited++) {
      assert.ok(waited < 3000, `${dir} does not come to be`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return dir;
  }
  fs.chmodSync(place, 0o755);
  await fillForOrdinaryUser(`${dir}.part`);
  fs.symlinkSync("nobody.part", dir); // `.part` remains, so that no other process starts again
  return dir;
}

/** Copies the programs to a directory, readable and executable for every user. */
async function fillForOrdinaryUser(dir: string): Promise<void> {
  copyProject(`${dir}/project/`);
  fs.cpSync(
    `${REPOSITORY}test/fuse/support`,
    `${dir}/project/test/fuse/support`,
    { recursive: true },
  );
  fs.copyFileSync(Deno.execPath(), `${dir}/deno`);
  fs.mkdirSync(`${dir}/cache`);
  const { npmCache: cache } = await denoCaches();
  if (fs.existsSync(cache)) {
    await succeed("cp", "-r", cache, `${dir}/cache/npm`);
  }
  await succeed("chown", "-R", `${NOBODY}:${NOBODY}`, `${dir}/cache`);
  if (fs.existsSync(VENV) && !everybodyEnters(REPOSITORY)) {
    await succeed("cp", "-a", VENV, `${dir}/venv`);
  }
  await succeed("chmod", "-R", "u+rwX,go+rX", dir);
  assert.ok(everybodyEnters(dir), `${dir} is not for everybody`);
}

/** Copies the project's sources, without tests, to a directory whose path ends in a slash. */
export function copyProject(target: string): void {
  const parts = ["cli.ts", "mod.ts", "deno.json", "deno.lock", "src", "fuse"];
  for (const part of parts) {
    fs.cpSync(REPOSITORY + part, target + part, { recursive: true });
  }
}

async function succeed(program: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(program, { args }).output();
  assert.ok(success, program);
}

function makeUser(
  name: string,
  home: string,
  programs: Pick<User, "project" | "deno" | "python">,
  ownEnv: Readonly<Record<string, string>> = {},
  identity: { readonly uid?: number; readonly gid?: number } = {},
): User {
  const env = { ...ownEnv, XDG_RUNTIME_DIR: `${home}/run` };
  const run = async (program: string, ...args: string[]): Promise<Finished> => {
    const output = await new Deno.Command(program, {
      args,
      cwd: home,
      env,
      ...identity,
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return {
      code: output.code,
      stdout: text(output.stdout),
      stderr: text(output.stderr),
    };
  };
  return {
    name,
    home,
    ...programs,
    async own(path) {
      await succeed("chmod", "-R", "u+rwX,go+rX", path);
      if (identity.uid === undefined) return;
      await succeed("chown", "-R", `${identity.uid}:${identity.gid}`, path);
    },
    run,
    async do(program, ...args) {
      const { code, stdout, stderr } = await run(program, ...args);
      assert.equal(
        code,
        0,
        `${[program, ...args].join(" ")}\n${stdout}${stderr}`,
      );
      return stdout;
    },
    recordfs: (...args) =>
      run(programs.deno, "run", "-A", `${programs.project}cli.ts`, ...args),
  };
}
