/** Debian packages of the programs for the benchmark of servers, by program name. */
export const SERVE_PACKAGES: ReadonlyMap<string, string> = new Map([
  ["nginx", "nginx-light"],
  ["rclone", "rclone"],
  ["wrk", "wrk"],
]);
