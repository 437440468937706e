/** Prints the time to open a zip in ms and its number of members: `ZIP [CACHE]`. */
import { open } from "../../src/open/open.ts";

const [path, directory] = Deno.args;
if (path === undefined) throw new Error("Which file?");
const cache = directory === undefined ? false : { directory };
const start = performance.now();
const container = await open(path, { remote: { cache } });
const ms = performance.now() - start;
const result = JSON.stringify({ ms, members: container.info.files });
container.close();
Deno.stdout.writeSync(new TextEncoder().encode(result));
