/** A private `/run` for the root programs of a test, so that records of mounts are kept apart. */
import assert from "node:assert/strict";

/** Environment variable that names the mount namespace of a program. */
export const NAMESPACE_VARIABLE = "RECORDFS_TEST_NAMESPACE";

/**
 * Covers `/run` by a directory until standard input ends. That mount is private, and mounts in the shared directory
 * propagate.
 */
const KEEPER = `
mount --make-private "$(findmnt --noheadings --output TARGET --target /run)" &&
mount --bind "$1" /run && echo ready && exec cat`;

/**
 * Runs `body` with a mount namespace in which `/run` is another directory; needs root. Mounts in `dir` propagate
 * between this namespace and the other.
 *
 * @param body Receives the environment variables by which {@linkcode inNamespace} starts programs there.
 */
export async function withOwnRun(
  dir: string,
  directory: string,
  body: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  await succeed("mount", "--bind", dir, dir);
  try {
    await succeed("mount", "--make-shared", dir);
    await keeping(directory, body);
  } finally {
    await succeed("umount", "--lazy", dir);
  }
}

async function keeping(
  directory: string,
  body: (env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const keeper = new Deno.Command("unshare", {
    args: [
      ...["--mount", "--propagation", "unchanged"],
      ...["sh", "-c", KEEPER, "sh", directory],
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const said = keeper.stdout.getReader();
  try {
    const { done } = await said.read();
    assert.ok(!done, `${directory} cannot be shown at /run`);
    await body({ [NAMESPACE_VARIABLE]: `/proc/${keeper.pid}/ns/mnt` });
  } finally {
    await said.cancel();
    await keeper.stdin.close();
    await keeper.status;
  }
}

/** Returns a command line that runs in the namespace of its environment, if it has one. */
export function inNamespace(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): readonly string[] {
  const namespace = env[NAMESPACE_VARIABLE];
  if (namespace === undefined) return command;
  return ["nsenter", `--mount=${namespace}`, "--", ...command];
}

async function succeed(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args })
    .output();
  assert.ok(success, `${program}: ${new TextDecoder().decode(stderr)}`);
}
