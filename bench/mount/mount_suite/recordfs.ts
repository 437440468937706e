import { fileURLToPath } from "node:url";
import { run } from "../../support/run.ts";
import { MountedServer } from "../../support/mounted_server.ts";
import type { Contender, Kind } from "./contender.ts";
import type { Data } from "./data.ts";

/** `recordfs`, up to the command's name. */
export const RECORDFS: readonly string[] = [
  ...[Deno.execPath(), "run", "-A"],
  fileURLToPath(new URL("../../../cli.ts", import.meta.url)),
];

/** `recordfs mount` in the foreground, up to the container's name. */
export function mountCommand(...options: string[]): string[] {
  return [...RECORDFS, "mount", "-f", ...options];
}

/**
 * recordfs without verification, which is what others are compared with; and as it is by default, if
 * it has that option.
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
