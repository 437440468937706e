/**
 * Removes a directory of cases by rm(1): Deno runs out of stack or descriptors in directories that are nested tens of
 * thousands deep.
 */
export function removeAll(path: string): void {
  const { success, stderr } = new Deno.Command("rm", {
    args: ["-rf", "--", path],
    stdout: "null",
    stderr: "piped",
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
