/** Debian packages of the programs that the benchmark of servers runs, by what the program is called. */
export const SERVE_PACKAGES: ReadonlyMap<string, string> = new Map([
  ["nginx", "nginx-light"],
  ["rclone", "rclone"],
  ["wrk", "wrk"],
]);
