/** `deno task test:all`: what takes long is tried as often as it deserves, not as a quick run can wait for. */
export const LONG: boolean = Deno.env.get("RECORDFS_ALL") === "1";
