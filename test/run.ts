// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Runs the tests, then says which were left to `deno task test:all`, which were ignored, and what would make them run.
 *
 * What takes torch, `deno task test:peers` runs.
 *
 * Types are not checked, which `deno check` does. Arguments are passed on to `deno test`. With RECORDFS_NO_IGNORED=1
 * none is left out, and an ignored test is a failure.
 *
 * Root's tests run in a mount namespace of their own, with a `/dev/fuse` of their own that everybody may
 * open, and records of mounts of their own: nothing has to be put back, however they end, and a mount that one leaves
 * goes with its server.
 */
import {
  PACKAGES,
  PEERS_MODULES,
  PYTHON_MODULES,
  succeeds,
} from "./support/programs/programs.ts";
import { LEFT_TO_ALL, LONG } from "./support/long.ts";
import { REPOSITORY } from "./support/paths.ts";

await fetchPackages();
const place = await Deno.makeTempDir({ prefix: "recordfs-tests-" });
const report = `${place}/ignored`;
await Deno.writeTextFile(report, "");
/** These set variables of the environment, which all files that are run at the same time would see. */
const ALONE = "test/environment";
/** These need what `deno task setup:peers` installs; `deno task test:peers` runs them. */
const PEERS = "test/peers/packages";
const strict = Deno.env.get("RECORDFS_NO_IGNORED") === "1";
const isAll = !Deno.args.some((arg) => !arg.startsWith("-"));
const left = isAll && !strict && !LONG ? LEFT_TO_ALL : [];
const isAlone = Deno.args.some((arg) => arg.includes(ALONE));
const code = isAll
  ? await run("--parallel", `--ignore=${[ALONE, PEERS, ...left]}`, "test/") ||
    await run(ALONE)
  : await run(...isAlone ? [] : ["--parallel"]);
const missing = (await Deno.readTextFile(report)).split("\n").filter(Boolean);
await Deno.remove(place, { recursive: true });

if (left.length > 0) {
  console.log(
    "\nLeft to `deno task test:all` and to CI, since they take long:",
  );
  for (const file of left) console.log(`  ${file}`);
}
if (missing.length === 0) Deno.exit(code);

const counts = new Map<string, number>();
for (const need of missing) counts.set(need, (counts.get(need) ?? 0) + 1);
console.log("\nIgnored, for want of something that is not here:");
for (const [need, count] of counts) {
  console.log(`  ${count} test(s): ${need} is missing; ${remedy(need)}`);
}
if (strict) console.log("No test may be ignored here.");
Deno.exit(strict ? code || 1 : code);

/** Runs tests as the arguments say as well. */
async function run(...args: string[]): Promise<number> {
  const deno = [Deno.execPath(), "test", "-A", "--no-check"];
  const [program, ...before] = [...namespace(), ...deno];
  // Where a leak began takes as much time as a third of what many tests do.
  if (LONG) before.push("--trace-leaks");
  const child = new Deno.Command(program!, {
    args: [...before, ...Deno.args, ...args],
    env: {
      RECORDFS_TEST_IGNORED: report,
      RECORDFS_TEST_PLACE: place,
      // More than two processors: many tests wait for programs, and those that are left to all for the clock as well.
      DENO_JOBS: left.length > 0 ? "4" : "3",
      // Tests compare what programs print. With all packages there, Deno still announces on standard
      // error that it asks the registry about them, as long as it has no answer from before.
      DENO_LOG: "warn",
      // Nor does it ask whether there is a newer one, through proxies of tests.
      DENO_NO_UPDATE_CHECK: "1",
    },
  }).spawn();
  return (await child.status).code;
}

/** What a command line starts with that is to run in a mount namespace of its own, where that can be had. */
function namespace(): string[] {
  const unshare = ["unshare", "--mount", "--propagation", "private"];
  if (Deno.uid() !== 0 || !succeeds("unshare", ...unshare.slice(1), "true")) {
    return [];
  }
  // The device is made in a file system that comes and goes: /tmp may not allow any. Its number is
  // from the kernel's devices.txt. What programs that are killed leave in memory goes as well.
  const script = `
if [ -c /dev/fuse ] && mount -t tmpfs -o mode=755 none /tmp; then
  mknod -m 666 /tmp/fuse c 10 229 && mount --bind /tmp/fuse /dev/fuse
  umount /tmp
fi
mount -t tmpfs -o mode=1777 none /dev/shm
mkdir -p -m 700 /run/recordfs && mount -t tmpfs -o mode=700 none /run/recordfs
exec "$@"`;
  return [...unshare, "sh", "-c", script, "sh"];
}

/** Fetches what the programs under test import, so that tests need no network and fail for their own reasons. */
async function fetchPackages(): Promise<void> {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--frozen"],
    cwd: REPOSITORY,
  }).spawn().status;
  if (code !== 0) Deno.exit(code);
}

function remedy(need: string): string {
  if (need === "root") return "run the tests as root, too";
  if (need === "/dev/fuse") {
    return "load the kernel's fuse module (in a container: --device /dev/fuse)";
  }
  if (need in PEERS_MODULES) {
    return `install it with \`deno task setup:peers\` (package ${need} of Python)`;
  }
  const name = need in PYTHON_MODULES ? `${need} of Python` : PACKAGES[need];
  return `install it with \`deno task setup\` (package ${name})`;
}
