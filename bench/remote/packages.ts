/** What the benchmark of remote containers needs beside Deno, and what is said where it is missing. */

/** Debian packages of the programs, by what the program is called; `deno task setup` installs them but for Ceph's. */
export const REMOTE_PACKAGES: ReadonlyMap<string, string> = new Map([
  ["curl", "curl"],
  ["nginx", "nginx-light"],
  ["rclone", "rclone"],
  ["s3fs", "s3fs"],
]);

/** Those of a real S3 gateway, which takes 200 MB of disk: `apt-get install --no-install-recommends` has them. */
export const CEPH_PACKAGES: readonly string[] = [
  "ceph-mon",
  "ceph-osd",
  "ceph-mgr",
  "radosgw",
  "ceph-common",
];

/** Whether a program is there. */
export function isThere(program: string): boolean {
  const { success } = new Deno.Command("sh", {
    args: ["-c", 'command -v "$0"', program],
    stdout: "null",
    stderr: "null",
  }).outputSync();
  return success;
}
