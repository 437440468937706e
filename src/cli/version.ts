import manifest from "../../deno.json" with { type: "json" };

/** The version of recordfs. */
export const VERSION: string = manifest.version;
