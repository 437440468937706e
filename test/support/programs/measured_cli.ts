/**
 * Runs a command of recordfs, and then prints its resource usage after the command's own messages: processor time of
 * all threads in seconds, and peak resident memory in bytes.
 *
 * @module
 */
import { main } from "../../../src/cli/main.ts";
import { cpuTimeIn, statOf } from "./cpu_time.ts";

const code = await main(Deno.args);
const stat = statOf("self");
const status = Deno.readTextFileSync("/proc/self/status");
const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status)!;
const taken = {
  seconds: cpuTimeIn(stat),
  memory: Number(kilobytes) * 1024,
};
Deno.stderr.writeSync(new TextEncoder().encode(`${JSON.stringify(taken)}\n`));
Deno.exit(code);
