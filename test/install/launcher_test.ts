/** The commands of the npm package and of a clone become Deno: signals and exit codes are Deno's own. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { needs } from "../support/programs/programs.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import {
  type Installed,
  installPackage,
  PLATFORM,
  runClean,
  sh,
} from "./installed.ts";
import { atTerminal } from "../support/programs/screen.ts";
import { onMusl } from "../support/programs/musl.ts";
import { checkFstab } from "./system_steps.ts";

const FIXTURE = `${REPOSITORY}test/recipes/packed.ffr`;
const NOBODY = [
  "setpriv",
  "--reuid=65534",
  "--regid=65534",
  "--clear-groups",
];

/** A user's own module, which imports the library by name. */
const PROBE = `
import { FormatError } from "@recordfs/recordfs";
const root = Deno.mainModule.replace(/[^/]*$/, "");
const own = await import(root + "src/base/errors.js");
if (own.FormatError !== FormatError) throw new Error("two libraries");
await import(root + "late.js");
export const format = undefined;
`;

/** A module in the package that imports each package which is loaded on demand. */
const LATE = `
import { PACKAGES } from "./src/base/packages.js";
for (const name of Object.values(PACKAGES)) await import(name);
const { imageCodec } = await import("./src/codecs/image/mod.js");
for (const name of ["turbojpeg", "sharp", "imagescript"]) {
  const codec = await imageCodec(name);
  const gray = { data: new Uint8Array(12), height: 3, width: 4, channels: 1 };
  const { width } = await codec.decode(await codec.encode(gray), { colorspace: "GRAY" });
  console.log(name, width);
}
`;

Deno.test({
  name: "the installed command",
  ...needs("root", "fuse", "setpriv", "unshare", "tar", "script"),
  fn: (t) =>
    withTempDir(async (dir) => {
      const installed = await installPackage(dir);
      const { command, root } = installed;
      fs.copyFileSync(FIXTURE, `${dir}/packed.ffr`);
      const data = `${dir}/packed.ffr`;

      await t.step(
        "exit codes are passed on: done, failed, a wrong line",
        async () => {
          for (
            const [args, code] of [
              [["ls", data], 0],
              [["ls", `${dir}/none.ffr`], 1],
              [["ls"], 2],
            ] as const
          ) {
            assert.equal((await runClean([command, ...args])).code, code);
          }
        },
      );

      await t.step("it serves the page, module by module", async () => {
        await checkPage(command, data);
      });

      await t.step("a terminal shows only its output", async () => {
        for (const line of [["--version"], ["ls", data], ["check", data]]) {
          const piped = await runClean([command, ...line]);
          const { lines, code } = await atTerminal([command, ...line]);
          assert.equal(code, 0);
          assert.deepEqual(lines, piped.stdout.trimEnd().split("\n"));
        }
      });

      await t.step(
        "any chain of links leads to it, from any directory",
        async () => {
          fs.mkdirSync(`${dir}/bin`);
          fs.symlinkSync(
            `../${command.slice(dir.length + 1)}`,
            `${dir}/bin/one`,
          );
          fs.symlinkSync("one", `${dir}/bin/two`);
          const { stdout } = await runClean([`${dir}/bin/two`, "--version"]);
          assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
          const env = { PATH: `${dir}/bin:/usr/bin:/bin` };
          assert.equal(
            (await runClean(["two", "--version"], env)).stdout,
            stdout,
          );
          assert.equal(
            (await runClean(["./two", "--version"], {}, `${dir}/bin`)).stdout,
            stdout,
          );
        },
      );

      await t.step(
        "without a network, as another user, whose home is read-only",
        async () => {
          fs.mkdirSync(`${dir}/home`, { mode: 0o555 });
          fs.writeFileSync(`${dir}/probe.ts`, PROBE);
          fs.writeFileSync(`${root}/late.js`, LATE);
          // Readable for the other user, whatever the umask.
          fs.chmodSync(`${dir}/home`, 0o555);
          for (const file of [`${dir}/probe.ts`, `${root}/late.js`]) {
            fs.chmodSync(file, 0o644);
          }
          const alone = ["unshare", "--net", ...NOBODY, command];
          const run = (args: readonly string[], env = {}) =>
            runClean([...alone, ...args], env, dir);
          for (const env of [{ HOME: `${dir}/home` }, {}]) {
            const { stdout, stderr, code } = await run(["ls", data], env);
            assert.equal(stderr, "");
            assert.equal(code, 0);
            assert.equal(stdout.split("\n")[0], "001.txt");
          }
          const home = { HOME: `${dir}/home` };
          const threads = ["bench-loader", "--workers=2", "--batches=2", data];
          const loaded = await run(threads, home);
          assert.equal(loaded.code, 0, loaded.stderr);
          const probe = ["ls", "--format-module", `${dir}/probe.ts`, data];
          const { stdout, stderr } = await run(probe, home);
          assert.match(stderr, /exports no `format`/); // the module was run
          assert.equal(stdout, "turbojpeg 4\nsharp 4\nimagescript 4\n");
          assert.deepEqual(fs.readdirSync(`${dir}/home`), []);
        },
      );

      await t.step(
        "from a directory that was removed, or that the user may not enter, it reports that",
        async () => {
          const [gone, closed] = [`${dir}/gone`, `${dir}/closed`];
          fs.mkdirSync(gone);
          fs.mkdirSync(`${closed}/below`, { recursive: true });
          fs.chmodSync(closed, 0o700);
          const said =
            /^recordfs: the working directory is gone, or this user may not enter it: .*cd \//m;
          const as = [...NOBODY, command, "ls", data];
          for (
            const [to, then] of [
              [gone, `rmdir ${gone}; exec ${command} ls ${data}`],
              [closed, `exec ${as.join(" ")}`],
              [`${closed}/below`, `exec ${as.join(" ")}`],
            ] as const
          ) {
            const { stderr, code } = await runClean(["sh", "-c", then], {}, to);
            assert.equal(code, 1);
            assert.match(stderr, said);
          }
        },
      );

      await t.step(
        "a mount in the background, with the network cut",
        async () => {
          const point = `${dir}/point`;
          fs.mkdirSync(point);
          const env = { XDG_RUNTIME_DIR: `${dir}/run` };
          fs.mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
          const cut = ["unshare", "--net", command];
          const mounted = await runClean([...cut, "mount", data, point], env);
          assert.equal(mounted.stderr, "");
          assert.ok(fs.existsSync(`${point}/001.txt`));
          const { code, stderr } = await runClean(
            [...cut, "unmount", point],
            env,
          );
          assert.equal(code, 0, stderr);
          assert.deepEqual(fs.readdirSync(point), []);
        },
      );

      for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
        await t.step(
          `${signal} to the process alone ends a mount`,
          () => endsBy(signal, [command], data),
        );
      }

      await t.step(
        "SIGKILL is reported as such, and leaves no process",
        async () => {
          await withForeground([command], data, async (child) => {
            assert.deepEqual(await childrenOf(child.pid), []);
            child.kill("SIGKILL");
            assert.equal((await child.status).signal, "SIGKILL");
          });
        },
      );

      await t.step(
        "copied as one directory and linked, it mounts by fstab",
        () => checkFstab(root, data, dir),
      );

      await t.step(
        "Deno next to or above the package is used",
        () => movesDeno(installed, dir),
      );

      await t.step("without Deno it prints instructions", async () => {
        fs.rmSync(`${root}/node_modules/@deno`, { recursive: true });
        const { code, stderr } = await runClean([command, "--version"]);
        assert.equal(code, 1);
        assert.match(
          stderr,
          /there is no Deno for this machine \(Linux .*\n.*--omit=optional/,
        );
        const musl = await runClean(onMusl(dir, [command, "--version"]));
        assert.equal(musl.code, 1);
        assert.match(musl.stderr, /for GNU libc.*apk add deno.*RECORDFS_DENO=/);
        const env = { RECORDFS_DENO: Deno.execPath() };
        assert.equal((await runClean([command, "--version"], env)).code, 0);
      });
    }),
});

Deno.test({
  name:
    "the command of a clone executes the binary of npm's Deno, not its Node program",
  ...needs("root", "fuse"),
  fn: () =>
    withTempDir(async (dir) => {
      // The state after `npm install --global --ignore-scripts deno`.
      const npm = `${dir}/lib/node_modules/deno`;
      const binary = `${npm}/node_modules/${PLATFORM}/deno`;
      await sh(`mkdir -p ${dir}/bin $(dirname ${binary})`);
      fs.writeFileSync(`${npm}/bin.cjs`, "#!/bin/false\n", { mode: 0o755 });
      fs.symlinkSync("../lib/node_modules/deno/bin.cjs", `${dir}/bin/deno`);
      fs.symlinkSync(Deno.execPath(), binary);
      const env = ["env", `PATH=${dir}/bin:/usr/bin:/bin`];
      const command = [...env, `${REPOSITORY}bin/recordfs`];
      await endsBy("SIGTERM", command, FIXTURE);
      // Hoisted, as if other packages were installed with it.
      await sh(`mv ${npm}/node_modules/@deno ${dir}/lib/node_modules/`);
      const { code } = await runClean([...command, "--version"]);
      assert.equal(code, 0);
    }),
});

Deno.test("the command loads what its line needs, and everything for long-running commands", async () => {
  await withTempDir(async (dir) => {
    const shown = `${dir}/deno`;
    fs.writeFileSync(shown, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    // The launchers of a clone and of a package, which has no TypeScript next to it.
    fs.mkdirSync(`${dir}/bin`);
    fs.copyFileSync(`${REPOSITORY}bin/recordfs`, `${dir}/bin/recordfs`);
    for (const root of [REPOSITORY, `${dir}/`]) {
      const isLazy = async (...line: string[]) => {
        const { code, stdout } = await runClean(
          [`${root}bin/recordfs`, ...line],
          { RECORDFS_DENO: shown },
        );
        assert.equal(code, 0);
        const program = root === REPOSITORY ? "cli.ts" : "cli.js";
        const end = `/${program} ${line.join(" ")}`;
        assert.ok(stdout.trim().endsWith(end), stdout);
        return stdout.includes(" --unstable-lazy-dynamic-imports ");
      };
      assert.ok(await isLazy("ls", "a.ffr"));
      assert.ok(await isLazy("mount", "a.ffr", "/mnt", "--format=ffr"));
      assert.ok(!await isLazy("mount", "-f", "a.ffr", "/mnt"));
      assert.ok(!await isLazy("mount", "a.ffr", "/mnt", "--foreground"));
      assert.ok(!await isLazy("serve", "a.ffr"));
      assert.ok(!await isLazy("view", "a.ffr"));
    }
  });
});

Deno.test({
  name:
    "the command of a package prints nothing of Deno's caches on a terminal (needs script)",
  ...needs("script"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/bin`);
      fs.copyFileSync(`${REPOSITORY}bin/recordfs`, `${dir}/bin/recordfs`);
      fs.writeFileSync(`${dir}/import_map.json`, '{ "imports": {} }');
      fs.writeFileSync(`${dir}/cli.js`, "console.log(Deno.args[0]);\n");
      const env = { RECORDFS_DENO: Deno.execPath(), NO_COLOR: "1" };
      const at = (more: Record<string, string> = {}) =>
        atTerminal([`${dir}/bin/recordfs`, "ls"], { env: { ...env, ...more } });
      for (const more of [{}, { DENO_LOG: "" }, { DENO_LOG: "warn" }]) {
        assert.deepEqual(await at(more), { code: 0, lines: ["ls"] });
      }
      // Deno's other messages stay, and DENO_LOG can enable the hidden ones.
      fs.writeFileSync(`${dir}/cli.js`, "import './none.js';\n");
      const { code, lines } = await at();
      assert.equal(code, 1);
      assert.match(lines.join("\n"), /none\.js/);
      const asked = await at({ DENO_LOG: "deno::cache::cache_db=info" });
      assert.match(asked.lines.join("\n"), /cache database/);
    }),
});

/** Asserts that the command finds a hoisted Deno, as in a project, or next to a linked package. */
async function movesDeno(
  { command, root }: Installed,
  dir: string,
): Promise<void> {
  fs.renameSync(`${root}/node_modules/@deno`, `${dir}/node_modules/@deno`);
  assert.equal((await runClean([command, "--version"])).code, 0);
  fs.renameSync(`${dir}/node_modules/@deno`, `${root}/node_modules/@deno`);
}

/** Asserts that a signal ends a mount with the right exit code, and leaves no mount or process. */
async function endsBy(
  signal: "SIGTERM" | "SIGINT" | "SIGHUP",
  command: readonly string[],
  data: string,
): Promise<void> {
  await withForeground(command, data, async (child, point) => {
    const executable = await Deno.readLink(`/proc/${child.pid}/exe`);
    assert.match(executable, /\/deno$/, "it has become Deno");
    assert.deepEqual(await childrenOf(child.pid), []);
    child.kill(signal);
    const { code } = await child.status;
    const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }; // signal(7)
    assert.ok(
      code === 0 || code === 128 + numbers[signal],
      `exit code ${code}`,
    );
    assert.deepEqual(fs.readdirSync(point), []);
    assert.doesNotMatch(
      fs.readFileSync("/proc/self/mountinfo", "utf8"),
      new RegExp(point),
    );
  });
}

async function withForeground(
  command: readonly string[],
  data: string,
  body: (child: Deno.ChildProcess, point: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (point) => {
    const [program, ...args] = [...command, "mount", "-f", data, point];
    const child = new Deno.Command(program!, { args, stdin: "null" }).spawn();
    try {
      for (let tries = 0; !fs.existsSync(`${point}/001.txt`); tries++) {
        assert.ok(tries < 600, "it does not mount");
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await body(child, point);
    } finally {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended already, as expected.
      }
      await child.status;
      await runClean(["umount", "--lazy", "--quiet", point]);
    }
  });
}

async function childrenOf(pid: number): Promise<string[]> {
  const path = `/proc/${pid}/task/${pid}/children`;
  const text = await Deno.readTextFile(path);
  return text.split(" ").filter(Boolean);
}

/** Asserts that a server of the package serves the page's first modules, as JavaScript. */
async function checkPage(command: string, data: string): Promise<void> {
  const server = new Deno.Command(command, {
    args: ["serve", "--no-token", "--port", "0", data],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    const { value } = await reader.read();
    const url = value!.trim();
    const page = await (await fetch(url)).text();
    const names = [...page.matchAll(/(?:src|href)="(page\/[^"]+)"/g)];
    assert.ok(names.length > 2);
    for (const [, name] of names) {
      const response = await fetch(url + name);
      assert.equal(response.status, 200, name);
      assert.doesNotMatch(await response.text(), /\binterface \w+ \{/, name);
    }
  } finally {
    server.kill("SIGINT");
    await reader.cancel();
    await server.status;
  }
}
