/**
 * Returns the processor time that the calling thread has used, in seconds, with a resolution of 10 ms. Unlike
 * wall-clock time, it does not include waiting for a processor.
 */
export function cpuTime(): number {
  return cpuTimeIn(statOf("thread-self"));
}

/** Returns the user and system time of a process or thread in seconds: fields 14 and 15 of proc_pid_stat(5). */
export function cpuTimeIn(stat: readonly string[]): number {
  return (Number(stat[11]) + Number(stat[12])) / 100;
}

/** Reads the fields of proc_pid_stat(5) for this process or thread, starting with the third. */
export function statOf(whom: "self" | "thread-self"): string[] {
  const text = Deno.readTextFileSync(`/proc/${whom}/stat`);
  // The second field, a name, may contain spaces and parentheses.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
