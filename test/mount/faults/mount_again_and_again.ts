/**
 * Mounts and unmounts a container repeatedly in one process. Arguments: the container, a directory, how often. Prints
 * as JSON how many descriptors, maps, mounts, threads and kilobytes the process holds after a tenth of the rounds, and
 * at the end.
 */
import * as fs from "node:fs";
import { mount } from "../../../fuse/mount_container.ts";

const [source, mountpoint, times] = Deno.args as [string, string, string];

function held(): Record<string, number> {
  const lines = (name: string) =>
    fs.readFileSync(`/proc/self/${name}`, "utf8").trim().split("\n");
  const field = (name: string) => {
    const line = lines("status").find((line) => line.startsWith(`${name}:`));
    return Number(/\d+/.exec(line!)![0]);
  };
  return {
    descriptors: fs.readdirSync("/proc/self/fd").length,
    maps: lines("maps").filter((line) => line.endsWith(source)).length,
    mounts: lines("mountinfo").filter((line) => line.includes(mountpoint))
      .length,
    threads: field("Threads"),
    kilobytes: field("RssAnon"),
  };
}

const found: Record<string, number>[] = [];
for (let i = 1; i <= Number(times); i++) {
  const mounted = await mount(source, mountpoint);
  const bytes = await Deno.readFile(`${mountpoint}/000000`);
  if (bytes.length !== 9) throw new Error(`${bytes.length} bytes`);
  await mounted.unmount();
  if (i === Math.ceil(Number(times) / 10)) found.push(held());
}
// Threads take a while to end: wait until few are left.
const most = found[0]!.threads! + 9;
for (const end = performance.now() + 180_000; performance.now() < end;) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  if (held().threads! <= most) break;
}
found.push(held());
// deno-lint-ignore no-console -- a program whose output is read
console.log(JSON.stringify(found));
