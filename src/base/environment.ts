/** Returns an environment variable, or `undefined` if it is unset or empty, or if reading it would fail or prompt. */
export function variable(name: string): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}
