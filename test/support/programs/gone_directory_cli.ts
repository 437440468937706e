/**
 * Runs a command of recordfs in a working directory that is removed first.
 *
 * @module
 */
import { main } from "../../../src/cli/main.ts";

const directory = Deno.makeTempDirSync({ prefix: "recordfs-gone-" });
Deno.chdir(directory);
Deno.removeSync(directory);
Deno.exit(await main(Deno.args));
