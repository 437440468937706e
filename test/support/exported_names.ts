import { REPOSITORY } from "./paths.ts";

/** The entry points that `deno.json` names, with their files below the repository's root. */
export const ENTRY_POINTS: Readonly<Record<string, string>> = JSON.parse(
  Deno.readTextFileSync(`${REPOSITORY}deno.json`),
).exports;

/** Asks `deno doc` which names each entry point exports, types included. */
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
