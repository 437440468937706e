/**
 * fast-check with the same cases in every run, so that what passes here passes in CI. `task test:all` tries new cases
 * each time. `RECORDFS_SEED` repeats the cases of a failure, whose message names the seed.
 */
import fc from "fast-check";
import { LONG } from "./long.ts";

const given = Deno.env.get("RECORDFS_SEED");
if (given !== undefined || !LONG) {
  fc.configureGlobal({ seed: Number(given ?? 1) });
}

export default fc;
