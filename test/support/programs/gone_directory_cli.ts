/**
 * Removes the working directory, and runs a command of recordfs in it.
 *
 * @module
 */
import { main } from "../../../src/cli/main.ts";

const directory = Deno.makeTempDirSync({ prefix: "recordfs-gone-" });
Deno.chdir(directory);
Deno.removeSync(directory);
Deno.exit(await main(Deno.args));
