/** What a test needs beside Deno, and what is said of the tests that can't run without it. */

import { libdeflate } from "../../../src/io/decoded/libdeflate.ts";

/** Debian packages of the programs that tests use; `deno task setup` installs them. */
export const PACKAGES: Record<string, string> = {
  apache2: "apache2-bin",
  bash: "bash",
  cadaver: "cadaver",
  curl: "curl",
  chromium: "chromium",
  "chromium-headless-shell": "chromium-headless-shell",
  ffmpeg: "ffmpeg",
  fincore: "util-linux",
  fish: "fish",
  fusermount3: "fuse3",
  faketime: "faketime",
  jq: "jq",
  libdeflate: "libdeflate0",
  mandoc: "mandoc",
  "mount.davfs": "davfs2",
  "mount.fuse3": "fuse3",
  msgpack: "python3-msgpack",
  nginx: "nginx-light",
  numpy: "python3-numpy",
  openssl: "openssl",
  pillow: "python3-pil",
  prlimit: "util-linux",
  python3: "python3",
  rclone: "rclone",
  rsync: "rsync",
  script: "bsdutils",
  setpriv: "util-linux",
  strace: "strace",
  "systemd-analyze": "systemd",
  tar: "tar",
  unshare: "util-linux",
  unzip: "unzip",
  zsh: "zsh",
};

const found = new Map<string, boolean>();

/** Whether a program is there and ends in 0. */
export function succeeds(command: string, ...args: string[]): boolean {
  try {
    const options = { args, stdout: "null", stderr: "null" } as const;
    return new Deno.Command(command, options).outputSync().success;
  } catch {
    return false;
  }
}

/** The distribution's Python, which every user can run, where there is one. */
export const PYTHON = succeeds("/usr/bin/python3", "-c", "")
  ? "/usr/bin/python3"
  : "python3";

function isThere(need: string): boolean {
  switch (need) {
    case "root":
      return Deno.uid() === 0;
    case "/dev/fuse":
      return succeeds("test", "-r", "/dev/fuse");
    case "libdeflate":
      return libdeflate() !== undefined;
    case "numpy":
      return succeeds(PYTHON, "-c", "import numpy");
    case "msgpack":
      return succeeds(PYTHON, "-c", "import msgpack");
    case "pillow":
      return succeeds(PYTHON, "-c", "import PIL.Image");
    default:
      return succeeds("sh", "-c", 'command -v "$1"', "sh", need);
  }
}

/**
 * Spread into a test's definition: ignores the test where something is missing, and has the test
 * runner say so at the end.
 *
 * @param needs Program names, `libdeflate`, `msgpack`, `numpy`, `pillow`, `root`, or `fuse`: what a mount needs.
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
