import { REPOSITORY } from "./paths.ts";

/** Entry points of `deno.json`, and their files relative to the repository's root. */
export const ENTRY_POINTS: Readonly<Record<string, string>> = JSON.parse(
  Deno.readTextFileSync(`${REPOSITORY}deno.json`),
).exports;

/** Returns the names that each entry point exports, types included, by `deno doc`. */
export async function exportedNames(): Promise<Map<string, string[]>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", ...Object.values(ENTRY_POINTS)],
    cwd: REPOSITORY,
  }).output();
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as {
    nodes: Record<string, { symbols: { name: string }[] }>;
  };
  return new Map(
    Object.entries(ENTRY_POINTS).map(([entryPoint, file]) => {
      const { href } = new URL(`../../${file}`, import.meta.url);
      return [entryPoint, nodes[href]!.symbols.map(({ name }) => name)];
    }),
  );
}
