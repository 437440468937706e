// deno-lint-ignore-file no-console -- a program for the terminal
/**
 * Installs what some tests and the benchmarks use: Debian packages, and an environment of Python below the checkout,
 * `.venv`. With `--peers`, what takes torch, in `.venv-peers`: for benchmarks and `deno task test:peers`. What is there already takes neither root nor a network.
 */
import { REMOTE_PACKAGES } from "../bench/remote/packages.ts";
import { SERVE_PACKAGES } from "../bench/serve/packages.ts";
import { PEER_PACKAGES } from "../bench/mount/mount_suite/packages.ts";
import { REPOSITORY } from "./support/paths.ts";
import {
  PACKAGES,
  PEERS_VENV,
  succeeds,
  VENV,
} from "./support/programs/programs.ts";

/** The C compiler and the library of the servers that benchmarks compare with, and other servers. */
const FOR_BENCHMARKS = [
  ...["gcc", "libc6-dev", "libfuse3-dev", "pkg-config", "archivemount"],
  ...PEER_PACKAGES.values(),
  ...REMOTE_PACKAGES.values(),
  ...SERVE_PACKAGES.values(),
];

/** What takes torch, and what GulpIO2 imports: PyPI's torch brings gigabytes for graphics cards. */
const FOR_PEERS = [
  ...["python3-venv", "python3-torchvision", "python3-opencv", "python3-pil"],
  ...["python3-tqdm", "python3-sh", "python3-docopt"],
];

Deno.umask(0o022); // other users read it, too
if (Deno.args[0] === "--peers") {
  await installPackages(FOR_PEERS);
  await makeEnvironment(
    PEERS_VENV,
    ["bench/requirements-peers.txt", "test/requirements-peers.txt"],
    "--system-site-packages",
  );
} else {
  await installPackages([...Object.values(PACKAGES), ...FOR_BENCHMARKS]);
  await makeEnvironment(VENV, [
    "test/requirements.txt",
    "bench/requirements.txt",
  ]);
}

/** Installs those Debian packages that are not there. */
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
    return false; // there is no dpkg
  }
}

/** Makes an environment of Python, unless it is there and works, and installs exactly what the files name. */
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
  // What they name is whole: nothing else comes with it.
  const install = ["-m", "pip", "install", "-q", "--no-deps", "--use-pep517"];
  await run([
    python,
    ...install,
    "--disable-pip-version-check",
    ...requirements,
  ]);
}

/** The distribution's Python, which every user can run; where it has none, the one that PATH finds. */
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

/** Runs a program, and ends this one where that fails. */
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
