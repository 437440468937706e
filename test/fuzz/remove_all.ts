/**
 * Removes what cases have left, as rm(1) does it: Deno runs out of its stack or of descriptors where directories
 * nest tens of thousands deep.
 */
export function removeAll(path: string): void {
  const { success, stderr } = new Deno.Command("rm", {
    args: ["-rf", "--", path],
    stdout: "null",
    stderr: "piped",
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
