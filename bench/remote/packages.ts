/** Packages that the benchmark of remote containers needs besides Deno, and the message if one is missing. */

/** Debian packages by program name; `deno task setup` installs all but Ceph's. */
export const REMOTE_PACKAGES: ReadonlyMap<string, string> = new Map([
  ["curl", "curl"],
  ["nginx", "nginx-light"],
  ["rclone", "rclone"],
  ["s3fs", "s3fs"],
]);

/** Packages of a real S3 gateway, 200 MB of disk: install them with `apt-get install --no-install-recommends`. */
export const CEPH_PACKAGES: readonly string[] = [
  "ceph-mon",
  "ceph-osd",
  "ceph-mgr",
  "radosgw",
  "ceph-common",
];

/** Whether a program is installed. */
export function isThere(program: string): boolean {
  const { success } = new Deno.Command("sh", {
    args: ["-c", 'command -v "$0"', program],
    stdout: "null",
    stderr: "null",
  }).outputSync();
  return success;
}
