// deno-lint-ignore-file no-console -- a program for the terminal
/** Tests the archive for `/opt` on other kernels and userlands of Debian, in qemu. Run by hand before a release. */
import * as fs from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../../deno.json" with { type: "json" };
import { buildPackage } from "../../packaging/package/build_package.ts";
import { platformArchive } from "../../packaging/release/platform_archive.ts";
import { Exit } from "../../src/cli/exit.ts";
import { abortable } from "../../src/cli/terminal/signals.ts";
import { succeeds } from "../support/programs/programs.ts";
import { type Machine, MACHINES, qemuOf } from "./machines.ts";
import { makeMachine } from "./make_machine.ts";
import { scriptFor, STEPS } from "./script.ts";

const HELP = `Usage: deno task test:kernels [--place DIR] [MACHINE...]

Installs the release's archive on machines of Debian in qemu, without a network,
and mounts there. Needs apt, and the packages qemu-system-x86, qemu-system-arm,
seabios, ipxe-qemu and cpio. Some minutes a machine.

Machines (those of amd64 unless given; "all"):
${
  MACHINES.map(({ name, version }) => `  ${name.padEnd(16)} Linux ${version}`)
    .join("\n")
}

--place DIR   where packages and machines are kept, to be used again

Exit codes: 0 all is right, 1 something is not, 2 the command line is wrong.`;

/** Timeout per machine in minutes: arm64 took more than 20 on two busy cores. */
const TIMEOUT = 40;

/** Number of console lines to print if a step fails. */
const LAST_LINES = 60;

Deno.exit(await abortable(main).catch(exitCodeOf));

function exitCodeOf(error: unknown): number {
  if (error instanceof Exit) return error.code;
  throw error;
}

async function main(signal: AbortSignal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...Deno.args],
    allowPositionals: true,
    strict: false,
    options: { place: { type: "string" }, help: { type: "boolean" } },
  });
  const { place: given, help, ...unknown } = values;
  if (help === true) console.log(HELP);
  if (help === true) return 0;
  const machines = chosen(positionals);
  const isPlace = given === undefined || typeof given === "string";
  if (machines === undefined || Object.keys(unknown).length > 0 || !isPlace) {
    console.error(HELP);
    return 2;
  }
  const programs = [
    "apt-get",
    "cpio",
    "dpkg-deb",
    "timeout",
    ...new Set(
      machines.map((machine) => qemuOf(machine, "", "", "")[0]!),
    ),
  ];
  const missing = programs.filter((name) => !succeeds(name, "--version"));
  if (missing.length > 0) {
    console.error(
      `Cannot run other kernels: ${missing.join(", ")} is not here. ` +
        "Install qemu-system-x86 qemu-system-arm seabios ipxe-qemu cpio",
    );
    return 1;
  }
  const place = given ??
    await Deno.makeTempDir({ prefix: "recordfs-kernels-" });
  let failed = 0;
  try {
    const archives = new Map<string, string>();
    for (const machine of machines) {
      const { platform } = machine;
      const archive = archives.get(platform) ??
        await archiveFor(platform, place);
      archives.set(platform, archive);
      signal.throwIfAborted();
      const own = join(place, machine.name);
      if (!await tried(machine, archive, own, signal)) failed++;
    }
  } finally {
    if (given === undefined) {
      await Deno.remove(place, { recursive: true });
    }
  }
  return failed > 0 ? 1 : 0;
}

function chosen(names: readonly string[]): readonly Machine[] | undefined {
  if (names.length === 0) {
    return MACHINES.filter(({ architecture }) => architecture === "amd64");
  }
  if (names.includes("all")) return MACHINES;
  const found = names.map((name) =>
    MACHINES.find((machine) => machine.name === name)
  );
  return found.includes(undefined) ? undefined : found as Machine[];
}

/** Builds the archive for a platform like a release. */
async function archiveFor(
  platform: Machine["platform"],
  place: string,
): Promise<string> {
  const out = join(place, `${platform}.tar.gz`);
  const parts = await Deno.makeTempDir({ prefix: "recordfs-archive-" });
  try {
    const { file } = await buildPackage(parts);
    const name = `recordfs-${manifest.version}`;
    await platformArchive(file, platform, { name, place: parts, out });
  } finally {
    await Deno.remove(parts, { recursive: true });
  }
  return out;
}

/** Runs a machine, and prints the result of each step. Returns whether all succeeded. */
async function tried(
  machine: Machine,
  archive: string,
  place: string,
  signal: AbortSignal,
): Promise<boolean> {
  fs.mkdirSync(place, { recursive: true });
  const { kernel, initrd } = await makeMachine(
    machine,
    archive,
    scriptFor(machine),
    place,
    signal,
  );
  const path = join(place, "console");
  fs.writeFileSync(path, "");
  const [program, ...args] = qemuOf(machine, kernel, initrd, path);
  const begun = performance.now();
  // `timeout` ends the machine even if this program is killed.
  const child = new Deno.Command("timeout", {
    args: ["--kill-after=10", `${TIMEOUT}m`, program!, ...args],
    stdin: "null",
    signal,
  }).spawn();
  const { code: ended } = await child.status;
  signal.throwIfAborted();
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  const text = fs.readFileSync(path, "utf8").replaceAll("\r", "");
  const codes = new Map(
    [...text.matchAll(/^@@ (\w+) (\d+)$/gm)].map(([, step, code]) => [
      step!,
      code!,
    ]),
  );
  const wrong = STEPS.filter((step) => codes.get(step) !== "0");
  const steps = wrong.map((step) => {
    const code = codes.get(step);
    return code === undefined
      ? `${step} never ended`
      : `${step} ended with ${code}`;
  });
  console.log(
    wrong.length === 0
      ? `${machine.name}: right in ${minutes} minutes: ${STEPS.join(", ")}`
      : `${machine.name}: wrong in ${minutes} minutes (qemu ended with ${ended}): ${
        steps.join(", ")
      }`,
  );
  if (wrong.length > 0) {
    console.log(text.split("\n").slice(-LAST_LINES).join("\n"));
  }
  return wrong.length === 0;
}
