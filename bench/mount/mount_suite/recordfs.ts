import { fileURLToPath } from "node:url";
import { run } from "../../support/run.ts";
import { MountedServer } from "../../support/mounted_server.ts";
import type { Contender, Kind } from "./contender.ts";
import type { Data } from "./data.ts";

/** Command that runs `recordfs`, without a subcommand. */
export const RECORDFS: readonly string[] = [
  ...[Deno.execPath(), "run", "-A"],
  fileURLToPath(new URL("../../../cli.ts", import.meta.url)),
];

/** Returns `recordfs mount` in the foreground, without the container. */
export function mountCommand(...options: string[]): string[] {
  return [...RECORDFS, "mount", "-f", ...options];
}

/**
 * Returns recordfs without verification, which the others are compared with, and with its default verification if it
 * has that option.
 */
export async function recordfs(data: Data): Promise<Contender[]> {
  const help = new TextDecoder().decode(
    await run([...RECORDFS, "mount", "--help"]),
  );
  const verifies = help.includes("--no-verify");
  const contender = (kind: Kind, options: string[]): Contender => ({
    kind,
    name: kind,
    image: data.archive,
    start: (mountpoint) =>
      MountedServer.start(
        [...mountCommand(...options), data.archive, mountpoint],
        mountpoint,
        data.file,
      ),
  });
  return verifies
    ? [
      contender("recordfs", ["--no-verify"]),
      contender("recordfs, verifying", []),
    ]
    : [contender("recordfs", [])];
}
