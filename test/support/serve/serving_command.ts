/** Runs `recordfs serve` and `view` as programs. */
import assert from "node:assert/strict";
import { CLI } from "../../cli/run_cli.ts";
import { withTempDir } from "../paths.ts";
import { packed } from "./served_folder.ts";

/** A serving command that has printed its link. */
export interface Started {
  readonly link: string;
  /** Prefix of all URLs: the link without the page's path and the token. */
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Sends a signal, and returns the exit code and standard error. */
  end(signal: Deno.Signal): Promise<{ code: number; stderr: string }>;
}

/**
 * Starts the command, and waits until it has printed its link.
 *
 * @param descriptors Limit of open files; by default that of this process.
 */
export async function startServing(
  args: readonly string[],
  env: Record<string, string> = {},
  permissions: readonly string[] = ["-A"],
  descriptors?: number,
): Promise<Started> {
  const limit = descriptors === undefined ? "" : `ulimit -n ${descriptors}; `;
  const child = new Deno.Command("/bin/sh", {
    args: [
      ...["-c", `${limit}exec "$@"`, "sh", Deno.execPath(), "run"],
      ...["--no-prompt", ...permissions, "--no-check", CLI, ...args],
    ],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) assert.fail(`it ended: ${await errors}`);
    text += value;
  }
  const link = text.slice(0, text.indexOf("\n"));
  const { origin, pathname, searchParams } = new URL(link);
  return {
    link,
    url: origin + pathname.replace(/s\/[\w-]{22}\/$/, ""),
    token: searchParams.get("token") ?? "",
    pid: child.pid,
    async end(signal) {
      child.kill(signal);
      const { code } = await child.status;
      await reader.cancel();
      return { code, stderr: await errors };
    },
  };
}

/** Runs `use` with a directory of two containers. */
export function withContainers(
  use: (dir: string) => Promise<void>,
): Promise<void> {
  return withTempDir(async (dir) => {
    await Deno.writeFile(`${dir}/a.ffr`, packed({ "a.txt": "content of a" }));
    await Deno.writeFile(`${dir}/b.ffr`, packed({ "b.txt": "content of b" }));
    await use(dir);
  });
}
