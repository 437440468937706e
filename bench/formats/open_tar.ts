/** Prints how long opening a tar took, in ms, and how many members it has: `TAR [CACHE]`. */
import { TarReader } from "../../src/formats/tar/mod.ts";

const [path, directory] = Deno.args;
if (path === undefined) throw new Error("Which file?");
const cache = directory === undefined ? false : { directory };
const start = performance.now();
const reader = await TarReader.open(path, { remote: { cache } });
const ms = performance.now() - start;
const result = JSON.stringify({ ms, members: reader.length });
reader.close();
Deno.stdout.writeSync(new TextEncoder().encode(result));
