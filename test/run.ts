// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Runs the tests. Then reports which were left to `deno task test:all` and which were ignored, and how to run them.
 *
 * `deno task test:peers` runs the tests that need torch.
 *
 * Does not check types: see `deno check`. Arguments are passed on to `deno test`. With RECORDFS_NO_IGNORED=1, all tests
 * run, and an ignored test is a failure.
 *
 * As root, tests run in a mount namespace with their own `/dev/fuse`, which every user may open, and their own records
 * of mounts. Nothing has to be restored, however they end, and a mount that a test leaves ends with its server.
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
/** Tests that set environment variables, which would affect all files that run at the same time. */
const ALONE = "test/environment";
/** Tests that need `deno task setup:peers`; `deno task test:peers` runs them. */
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

/** Runs tests with additional arguments. */
async function run(...args: string[]): Promise<number> {
  const deno = [Deno.execPath(), "test", "-A", "--no-check"];
  const [program, ...before] = [...namespace(), ...deno];
  // Tracing the origin of leaks slows many tests down by a third.
  if (LONG) before.push("--trace-leaks");
  const child = new Deno.Command(program!, {
    args: [...before, ...Deno.args, ...args],
    env: {
      RECORDFS_TEST_IGNORED: report,
      RECORDFS_TEST_PLACE: place,
      // More than the number of processors: many tests wait for programs, and the long ones also for the clock.
      DENO_JOBS: left.length > 0 ? "4" : "3",
      // Tests compare the output of programs. Even with all packages cached, Deno announces requests to the registry on
      // standard error, until it has cached a response.
      DENO_LOG: "warn",
      // Disables the update check, which would go through the proxies of tests.
      DENO_NO_UPDATE_CHECK: "1",
    },
  }).spawn();
  return (await child.status).code;
}

/** Returns the start of a command line that runs in a mount namespace, or nothing if that is not possible. */
function namespace(): string[] {
  const unshare = ["unshare", "--mount", "--propagation", "private"];
  if (Deno.uid() !== 0 || !succeeds("unshare", ...unshare.slice(1), "true")) {
    return [];
  }
  // The device is created in a temporary file system, since /tmp may not allow devices. Its number is that of the
  // kernel's devices.txt. Files that killed programs leave in memory are removed as well.
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

/** Fetches all packages before the tests, so that tests need no network. */
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
