/**
 * Returns an environment variable if the permission to read it is granted. Reading it otherwise would fail or
 * prompt.
 *
 * @returns `undefined` if the variable is unset, empty, or not allowed.
 */
export function variable(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}
