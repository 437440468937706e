// deno-lint-ignore-file no-console -- a program for the terminal
/** Installs the Debian packages that some tests and the benchmarks use. */
import { REMOTE_PACKAGES } from "../bench/remote/packages.ts";
import { SERVE_PACKAGES } from "../bench/serve/packages.ts";
import { PEER_PACKAGES } from "../bench/mount/mount_suite/packages.ts";
import { PACKAGES } from "./support/programs/programs.ts";

/** The C compiler and the library of the servers that benchmarks compare with, and other servers. */
const FOR_BENCHMARKS = [
  ...["gcc", "libc6-dev", "libfuse3-dev", "pkg-config"],
  ...PEER_PACKAGES.values(),
  ...REMOTE_PACKAGES.values(),
  ...SERVE_PACKAGES.values(),
];

const packages = [...new Set([...Object.values(PACKAGES), ...FOR_BENCHMARKS])];
const asRoot = Deno.uid() === 0 ? [] : ["sudo"];
const environment = { DEBIAN_FRONTEND: "noninteractive" };

for (
  const command of [
    ["apt-get", "update", "-q"],
    ["apt-get", "install", "-q", "-y", "--no-install-recommends", ...packages],
  ]
) {
  const [program, ...args] = [...asRoot, ...command];
  console.log([program, ...args].join(" "));
  try {
    const child = new Deno.Command(program!, { args, env: environment });
    const { success } = await child.spawn().status;
    if (!success) Deno.exit(1);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.error(
      `${program} is not here: this sets up Debian and its kin. ` +
        `Elsewhere, install what provides: ${packages.join(", ")}`,
    );
    Deno.exit(1);
  }
}
