/**
 * Runs a program to its end.
 *
 * @returns Its standard output.
 * @throws {Error} If it failed; the message contains its error output.
 */
export async function run(command: readonly string[]): Promise<Uint8Array> {
  const [program, ...args] = command as [string, ...string[]];
  const { success, code, stdout, stderr } = await new Deno.Command(program, {
    args,
    stdin: "null",
  }).output();
  if (success) return stdout;
  throw new Error(
    `${command.join(" ")} ended with code ${code}: ${
      new TextDecoder().decode(stderr).trim()
    }`,
  );
}

/** Runs a program that prints JSON; otherwise like {@linkcode run}. */
export async function runJson<T>(command: readonly string[]): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await run(command)));
}
