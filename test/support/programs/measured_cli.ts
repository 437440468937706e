/**
 * Runs a command of recordfs, and says behind what that reported what it took: processor time of all its threads
 * in seconds, and the most memory that was resident, in bytes.
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
