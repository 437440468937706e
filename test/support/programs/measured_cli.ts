/**
 * Runs a command of recordfs, and says behind what that reported what it took: processor time of all its threads
 * in seconds, and the most memory that was resident, in bytes.
 *
 * @module
 */
import { main } from "../../../src/cli/main.ts";

const code = await main(Deno.args);
const stat = Deno.readTextFileSync("/proc/self/stat");
// Behind the name in parentheses, user and system time are fields 12 and 13, in hundredths (proc_pid_stat(5)).
const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
const status = Deno.readTextFileSync("/proc/self/status");
const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status)!;
const taken = {
  seconds: (Number(fields[11]) + Number(fields[12])) / 100,
  memory: Number(kilobytes) * 1024,
};
Deno.stderr.writeSync(new TextEncoder().encode(`${JSON.stringify(taken)}\n`));
Deno.exit(code);
