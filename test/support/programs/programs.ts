/** External programs that tests need, and the report of tests that are ignored without them. */

import * as fs from "node:fs";
import { delimiter } from "node:path";
import { systemDecoder } from "../../../src/io/block_cache/system_decoder.ts";
import { REPOSITORY } from "../paths.ts";
import "./machine.ts";

/** Debian packages of the programs that tests use; `deno task setup` installs them. */
export const PACKAGES: Record<string, string> = {
  "7zz": "7zip",
  apache2: "apache2-bin",
  bash: "bash",
  bgzip: "tabix",
  bsdtar: "libarchive-tools",
  bzip2: "bzip2",
  cadaver: "cadaver",
  curl: "curl",
  chromium: "chromium",
  "chromium-headless-shell": "chromium-headless-shell",
  ffmpeg: "ffmpeg",
  fincore: "util-linux",
  fish: "fish",
  fusermount3: "fuse3",
  gzip: "gzip",
  faketime: "faketime",
  ip: "iproute2",
  jq: "jq",
  lftp: "lftp",
  libdeflate: "libdeflate0",
  libzstd: "libzstd1",
  lz4: "lz4",
  mandoc: "mandoc",
  "mount.davfs": "davfs2",
  "mount.fuse3": "fuse3",
  nginx: "nginx-light",
  openssl: "openssl",
  pigz: "pigz",
  prlimit: "util-linux",
  python3: "python3-venv",
  rclone: "rclone",
  rsync: "rsync",
  script: "bsdutils",
  setpriv: "util-linux",
  strace: "strace",
  "systemd-analyze": "systemd",
  tar: "tar",
  unshare: "util-linux",
  unzip: "unzip",
  wget: "wget",
  xz: "xz-utils",
  zsh: "zsh",
  zstd: "zstd",
};

const found = new Map<string, boolean>();

/** Whether a program exists and exits with 0. */
export function succeeds(command: string, ...args: string[]): boolean {
  try {
    const options = { args, stdout: "null", stderr: "null" } as const;
    return new Deno.Command(command, options).outputSync().success;
  } catch {
    return false;
  }
}

/** The project's Python environment, made by `deno task setup`. */
export const VENV = `${REPOSITORY}.venv`;

/** The Python environment of `deno task setup:peers`, with packages that need torch. */
export const PEERS_VENV = `${REPOSITORY}.venv-peers`;

/** Modules that tests import from {@linkcode VENV}, by package name in `requirements.txt`. */
export const PYTHON_MODULES: Record<string, string> = {
  aiohttp: "aiohttp",
  bagz: "bagz",
  braceexpand: "braceexpand",
  fsspec: "fsspec",
  granular: "granular",
  h5py: "h5py",
  lmdb: "lmdb",
  msgpack: "msgpack",
  numpy: "numpy",
  pillow: "PIL.Image",
  protobuf: "google.protobuf",
  pyarrow: "pyarrow.parquet",
  safetensors: "safetensors.numpy",
  webdataset: "webdataset",
};

/** Modules that tests import from {@linkcode PEERS_VENV}, by package name in `requirements-peers.txt`. */
export const PEERS_MODULES: Record<string, string> = {
  litdata: "litdata",
  "mosaicml-streaming": "streaming",
};

/** Python of {@linkcode VENV}, or the distribution's before the setup. Never one from PATH. */
export const PYTHON = fs.existsSync(`${VENV}/bin/python3`)
  ? `${VENV}/bin/python3`
  : "/usr/bin/python3";

/** Python of {@linkcode PEERS_VENV}, or the distribution's before the setup. */
export const PEERS_PYTHON = fs.existsSync(`${PEERS_VENV}/bin/python3`)
  ? `${PEERS_VENV}/bin/python3`
  : "/usr/bin/python3";

/** Where `deno task setup:peers` puts the archives that ratarmount is tested with, which are not ours. */
export const ARCHIVES = `${REPOSITORY}.peer-archives/tests`;
/** Name of {@linkcode ARCHIVES} among what tests need. */
export const PEER_ARCHIVES = "ratarmount's archives";

/** Returns the directories of this user's Deno caches. */
export async function denoCaches(): Promise<
  { readonly denoDir: string; readonly npmCache: string }
> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
    cwd: REPOSITORY,
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

function isThere(need: string): boolean {
  switch (need) {
    case "root":
      return Deno.uid() === 0;
    case PEER_ARCHIVES:
      return fs.existsSync(ARCHIVES);
    case "ratarmount":
      return fs.existsSync(`${VENV}/bin/ratarmount`);
    case "/dev/fuse":
      return isAllowed(need, fs.constants.R_OK);
    case "libdeflate":
      return systemDecoder("deflate") !== undefined;
    case "libzstd":
      return systemDecoder("zstd") !== undefined;
    case "python3":
      return succeeds(PYTHON, "-c", "");
    default:
      if (need in PEERS_MODULES) {
        return succeeds(PEERS_PYTHON, "-c", `import ${PEERS_MODULES[need]}`);
      }
      return need in PYTHON_MODULES
        ? succeeds(PYTHON, "-c", `import ${PYTHON_MODULES[need]}`)
        : Deno.env.get("PATH")!.split(delimiter).some((dir) =>
          isAllowed(`${dir}/${need}`, fs.constants.X_OK)
        );
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    fs.accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * Spread into a test's definition: ignores the test if something is missing, and reports it to the test runner.
 *
 * @param needs Names of programs, {@linkcode PYTHON_MODULES} or {@linkcode PEERS_MODULES}; {@linkcode PEER_ARCHIVES}, `libdeflate`, `libzstd`,
 * `root`, or `fuse` for what a mount needs.
 */
export function needs(...needs: string[]): { ignore: boolean } {
  const all = needs.flatMap((need) =>
    need !== "fuse"
      ? [need]
      : Deno.uid() === 0
      ? ["/dev/fuse"]
      : ["/dev/fuse", "fusermount3"]
  );
  const missing = all.filter((need) => {
    let there = found.get(need);
    if (there === undefined) found.set(need, there = isThere(need));
    return !there;
  });
  const report = Deno.env.get("RECORDFS_TEST_IGNORED");
  if (missing.length > 0 && report !== undefined) {
    for (const need of missing) {
      Deno.writeTextFileSync(report, `${need}\n`, { append: true });
    }
  }
  return { ignore: missing.length > 0 };
}
