/** Programs that read archives, and the commands that extract one. */
import * as fs from "node:fs";
import { REPOSITORY } from "../support/paths.ts";
import { PYTHON, VENV } from "../support/programs/programs.ts";
import { type Entries, entriesOf } from "./entries.ts";

/** Time limit of a program in seconds, and limit of its output. */
const SECONDS = 120;
const LARGEST_KB = 1 << 20;

/** Program that extracts archives. */
export interface ArchivePeer {
  readonly name: string;
  readonly suffixes: readonly string[];
  /** Shell command that extracts the archive `$1` to the working directory. */
  readonly command: string;
  /** Least exit code that is more than a warning. */
  readonly leastFailure: number;
  /** Facts that it does not preserve. */
  readonly ignored?: readonly string[];
}

const DENO = Deno.execPath();

/** Compressed archives of tar; those of other names are not compared. */
const TARS = [
  ...[".tar", ".tgz", ".tbz2", ".txz", ".tzst"],
  ...[".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".tar.pzstd"],
];

/** recordfs itself; it skips what cannot be read. */
export const OWN: ArchivePeer = {
  name: "recordfs",
  suffixes: [...TARS, ".zip"],
  command:
    `exec '${DENO}' run -A --no-check '${REPOSITORY}cli.ts' extract --partial "$1" . --force`,
  leastFailure: 1,
};

const python = (code: string) => `exec '${PYTHON}' -c '${code}' "$1"`;

/** Other programs. */
export const ARCHIVE_PEERS: readonly ArchivePeer[] = [
  {
    name: "tar",
    suffixes: TARS,
    command: 'exec tar --no-same-owner -xf "$1"',
    leastFailure: 2,
  },
  {
    name: "bsdtar",
    suffixes: [...TARS, ".zip"],
    command: 'exec bsdtar --no-same-owner -xf "$1"',
    leastFailure: 1,
  },
  {
    name: "7zz",
    suffixes: [".tar", ".zip"],
    command: 'exec 7zz x -y -bd -bso0 -bsp0 -snl "$1"',
    leastFailure: 2,
  },
  {
    name: "tarfile",
    suffixes: [".tar"],
    command: python(
      // Before 3.11.4 there are no filters.
      'import sys, tarfile; own = {"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}; ' +
        'tarfile.open(sys.argv[1], "r:").extractall(".", **own)',
    ),
    leastFailure: 1,
  },
  {
    name: "unzip",
    suffixes: [".zip"],
    command: 'exec unzip -qq -o "$1"',
    leastFailure: 2,
  },
  {
    name: "zipfile",
    suffixes: [".zip"],
    command: python(
      "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(chr(46))",
    ),
    leastFailure: 1,
    ignored: ["mtime"], // it does not set times
  },
];

/** Whether a file is compared, by its name. */
export function isArchive(path: string): boolean {
  return OWN.suffixes.some((suffix) => path.endsWith(suffix));
}

/** `ratarmount`, which takes a second to start; of `deno task setup`. */
export const RATARMOUNT: ArchivePeer = {
  name: "ratarmount",
  suffixes: [...TARS, ".zip"],
  command: `mnt=$(mktemp -d); trap 'fusermount3 -u "$mnt"; rmdir "$mnt"' EXIT;
    trap 'exit 124' TERM;
    '${VENV}/bin/ratarmount' --index-file :memory: "$1" "$mnt" || exit 3;
    cp -a --no-preserve=ownership "$mnt/." .`,
  leastFailure: 1,
};

/** Extracted entries, or the reason why there are none. */
export type Extracted =
  | { readonly entries: Entries; readonly error?: undefined }
  | { readonly entries?: undefined; readonly error: string };

/** Extracts an archive with a program in a temporary directory. */
export async function extracted(
  { command, leastFailure }: ArchivePeer,
  archive: string,
): Promise<Extracted> {
  const dir = await Deno.makeTempDir({ prefix: "recordfs-peers-" });
  try {
    const limited = `ulimit -f ${LARGEST_KB}; ${command}`;
    const { code, stderr } = await new Deno.Command("timeout", {
      args: [String(SECONDS), "sh", "-c", limited, "sh", archive],
      cwd: dir,
      env: { TZ: "UTC", LC_ALL: "C.UTF-8" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (code < leastFailure) return { entries: entriesOf(dir) };
    const [line = ""] = new TextDecoder().decode(stderr).trim().split("\n")
      .slice(-1);
    return { error: `exit code ${code}: ${line.slice(0, 200)}` };
  } finally {
    fs.chmodSync(dir, 0o700);
    await new Deno.Command("chmod", { args: ["-R", "u+rwX", dir] }).output();
    await Deno.remove(dir, { recursive: true });
  }
}
