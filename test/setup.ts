// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Installs the Debian packages that tests and benchmarks use, and Python packages into `.venv`. With `--peers`,
 * installs those that need torch into `.venv-peers`, and fetches archives of others into `.peer-archives`, for
 * benchmarks and `deno task test:peers`. Needs neither root nor a network for what is already installed.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { REMOTE_PACKAGES } from "../bench/remote/packages.ts";
import { SERVE_PACKAGES } from "../bench/serve/packages.ts";
import { PEER_PACKAGES } from "../bench/mount/mount_suite/packages.ts";
import { REPOSITORY } from "./support/paths.ts";
import {
  ARCHIVES,
  PACKAGES,
  PEERS_VENV,
  succeeds,
  VENV,
} from "./support/programs/programs.ts";

/** C compiler and library of the servers that benchmarks compare with, and other servers. */
const FOR_BENCHMARKS = [
  ...["gcc", "libc6-dev", "libfuse3-dev", "pkg-config", "archivemount"],
  ...PEER_PACKAGES.values(),
  ...REMOTE_PACKAGES.values(),
  ...SERVE_PACKAGES.values(),
];

/** torch and the imports of GulpIO2, from Debian: PyPI's torch includes gigabytes for graphics cards. */
const FOR_PEERS = [
  ...["python3-venv", "python3-torchvision", "python3-opencv", "python3-pil"],
  ...["python3-tqdm", "python3-sh", "python3-docopt"],
];

Deno.umask(0o022); // readable for other users
if (Deno.args[0] === "--peers") {
  await installPackages(FOR_PEERS);
  await makeEnvironment(
    PEERS_VENV,
    ["bench/requirements-peers.txt", "test/requirements-peers.txt"],
    "--system-site-packages",
  );
  await fetchArchives();
} else {
  await installPackages([...Object.values(PACKAGES), ...FOR_BENCHMARKS]);
  await makeEnvironment(VENV, [
    "test/requirements.txt",
    "bench/requirements.txt",
  ]);
}

/** Fetches the archives that ratarmount is tested with, unless they are there. */
async function fetchArchives(): Promise<void> {
  if (existsSync(ARCHIVES)) return;
  const from = "https://github.com/mxmlnkn/ratarmount";
  const clone = ["git", "clone", "-q", "--depth", "1", "--branch", "v1.3.0"];
  await run([...clone, from, dirname(ARCHIVES)]);
}

/** Installs the missing Debian packages. */
async function installPackages(names: readonly string[]): Promise<void> {
  const missing = [...new Set(names)].filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const asRoot = Deno.uid() === 0 ? [] : ["sudo"];
  const install = ["install", "-q", "-y", "--no-install-recommends"];
  for (const args of [["update", "-q"], [...install, ...missing]]) {
    await run([...asRoot, "apt-get", ...args], () => {
      console.error(
        `Cannot install packages: this is not Debian or its kin, or sudo is not here. ` +
          `Install what provides: ${missing.join(", ")}`,
      );
    });
  }
}

function isInstalled(name: string): boolean {
  const format = "-f=${db:Status-Status}";
  try {
    const { stdout } = new Deno.Command("dpkg-query", {
      args: ["-W", format, name],
      stderr: "null",
    }).outputSync();
    return new TextDecoder().decode(stdout) === "installed";
  } catch {
    return false; // dpkg does not exist
  }
}

/** Creates a Python environment, unless it works already, and installs exactly the packages in the files. */
async function makeEnvironment(
  place: string,
  files: readonly string[],
  ...flags: string[]
): Promise<void> {
  const python = `${place}/bin/python3`;
  if (!succeeds(python, "-m", "pip", "--version")) {
    const make = ["-m", "venv", "--clear", ...flags, place];
    await run([basePython(), ...make]);
  }
  const requirements = files.flatMap((file) => ["-r", REPOSITORY + file]);
  // The files list all dependencies, so none is resolved.
  const install = ["-m", "pip", "install", "-q", "--no-deps", "--use-pep517"];
  await run([
    python,
    ...install,
    "--disable-pip-version-check",
    ...requirements,
  ]);
}

/** Returns the distribution's Python, which every user can run, or else the one in PATH. */
function basePython(): string {
  const isNewEnough = "import sys, venv; sys.exit(sys.version_info < (3, 9))";
  const found = ["/usr/bin/python3", "python3"]
    .find((python) => succeeds(python, "-c", isNewEnough));
  if (found !== undefined) return found;
  console.error(
    "Cannot make .venv: there is no python3. Install Python 3.9 or later.",
  );
  Deno.exit(1);
}

/** Runs a program, and exits if it fails. */
async function run(
  [program, ...args]: readonly string[],
  onMissing: () => void = () => console.error(`${program} is not here.`),
): Promise<void> {
  console.log([program, ...args].join(" "));
  try {
    const child = new Deno.Command(program!, {
      args,
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
    const { success } = await child.spawn().status;
    if (!success) Deno.exit(1);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    onMissing();
    Deno.exit(1);
  }
}
