/** Temporary changes to this process's environment variables. */

/** Values by name; `undefined` unsets a variable. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Sets environment variables while `run` runs. */
export async function withEnvironment(
  variables: Variables,
  run: () => Promise<void>,
): Promise<void> {
  const before = Object.keys(variables)
    .map((name) => [name, Deno.env.get(name)] as const);
  setAll(Object.entries(variables));
  try {
    await run();
  } finally {
    setAll(before);
  }
}

/** {@linkcode withEnvironment} that also hides the AWS variables of this machine, and the files in its home. */
export async function withAwsEnvironment(
  variables: Variables,
  run: () => Promise<void>,
): Promise<void> {
  const others = Object.keys(Deno.env.toObject())
    .filter((name) => name.startsWith("AWS_"))
    .map((name) => [name, undefined] as const);
  await withEnvironment({
    ...Object.fromEntries(others),
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    ...variables,
  }, run);
}

function setAll(
  entries: readonly (readonly [string, string | undefined])[],
): void {
  for (const [name, value] of entries) {
    if (value === undefined) Deno.env.delete(name);
    else Deno.env.set(name, value);
  }
}
