/** A `/run` of a test's own, as programs of root see it that the test starts: records of root's mounts lie there only. */
import assert from "node:assert/strict";

/** Variable of a program's environment that names the mount namespace which it is to run in. */
export const NAMESPACE_VARIABLE = "RECORDFS_TEST_NAMESPACE";

/** Covers `/run` by a directory, until its input ends. That mount shows nowhere else, what is mounted below the shared one does. */
const KEEPER = `
mount --make-private "$(findmnt --noheadings --output TARGET --target /run)" &&
mount --bind "$1" /run && echo ready && exec cat`;

/**
 * Runs `body` with a mount namespace in which `/run` is another directory; needs root. What is mounted in `dir` there is
 * mounted here as well, and the other way round.
 *
 * @param body Is given the variables of the environment by which {@linkcode inNamespace} starts programs there.
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

/** A command line that starts a program in the namespace which its environment names, if it does. */
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
