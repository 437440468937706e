// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Runs the tests, then says which were ignored and what would make them run.
 *
 * Arguments are passed on to `deno test`. With RECORDFS_NO_IGNORED=1 an ignored test is a failure.
 */
import { PACKAGES } from "./support/programs.ts";
import { REPOSITORY } from "./support/paths.ts";

await fetchPackages();
const report = await Deno.makeTempFile({ prefix: "recordfs-ignored-" });
const paths = Deno.args.some((arg) => !arg.startsWith("-")) ? [] : ["test/"];
const child = new Deno.Command(Deno.execPath(), {
  args: ["test", "-A", "--parallel", "--trace-leaks", ...Deno.args, ...paths],
  env: {
    RECORDFS_TEST_IGNORED: report,
    DENO_JOBS: "2",
    // Tests compare what programs print. With all packages there, Deno still announces on standard
    // error that it asks the registry about them, as long as it has no answer from before.
    DENO_LOG: "warn",
  },
}).spawn();
const { code } = await child.status;
const missing = (await Deno.readTextFile(report)).split("\n").filter(Boolean);
await Deno.remove(report);

if (missing.length === 0) Deno.exit(code);

const counts = new Map<string, number>();
for (const need of missing) counts.set(need, (counts.get(need) ?? 0) + 1);
console.log("\nIgnored, for want of something that is not here:");
for (const [need, count] of counts) {
  console.log(`  ${count} test(s): ${need} is missing; ${remedy(need)}`);
}
const strict = Deno.env.get("RECORDFS_NO_IGNORED") === "1";
if (strict) console.log("No test may be ignored here.");
Deno.exit(strict ? code || 1 : code);

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
  return `install it with \`deno task setup\` (package ${PACKAGES[need]})`;
}
