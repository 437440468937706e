/**
 * A variable of the environment, where it may be read: asking would fail, or prompt, where it is off limits.
 *
 * @returns `undefined` where it is not set, empty, or not allowed.
 */
export function variable(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}
