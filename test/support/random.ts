/**
 * fast-check, with the same cases on every run: what passes here passes in CI. `task test:all` tries
 * other cases each time, and `RECORDFS_SEED` repeats those of a failure, which names its seed.
 */
import fc from "fast-check";
import { LONG } from "./long.ts";

const given = Deno.env.get("RECORDFS_SEED");
if (given !== undefined || !LONG) {
  fc.configureGlobal({ seed: Number(given ?? 1) });
}

export default fc;
