/** Prints how long each opening of a packed folder took, in ms: `FFR TIMES`. */
import { PackedFolder } from "../../src/formats/ffrecord/mod.ts";

const [path, times] = Deno.args;
if (path === undefined) throw new Error("Which file?");
const taken: number[] = [];
for (let i = 0; i < Number(times); i++) {
  const start = performance.now();
  const folder = await PackedFolder.open(path);
  taken.push(performance.now() - start);
  folder.close();
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(taken)));
