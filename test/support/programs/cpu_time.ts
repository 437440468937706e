/**
 * Processor time that the calling thread has used so far, in seconds and steps of a hundredth. It does
 * not grow while others have the processor, as the time of day does.
 */
export function cpuTime(): number {
  // proc(5): utime and stime are fields 14 and 15; the second, a name, may hold spaces.
  const text = Deno.readTextFileSync("/proc/thread-self/stat");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
