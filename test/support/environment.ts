/** Variables of this process's environment, for as long as something runs. */

/** Values by name; `undefined` where one is not to be there. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Sets variables of the environment for as long as something runs. */
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

/** {@linkcode withEnvironment} where those of AWS that there are do not count, nor files at home. */
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
