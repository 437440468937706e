/**
 * Processor time that the calling thread has used so far, in seconds and steps of a hundredth. It does
 * not grow while others have the processor, as the time of day does.
 */
export function cpuTime(): number {
  return cpuTimeIn(statOf("thread-self"));
}

/** User and system time of a process or thread together, in seconds: fields 14 and 15 of proc_pid_stat(5). */
export function cpuTimeIn(stat: readonly string[]): number {
  return (Number(stat[11]) + Number(stat[12])) / 100;
}

/** What `/proc` says of this process or this thread: the fields of proc_pid_stat(5) from the third on. */
export function statOf(whom: "self" | "thread-self"): string[] {
  const text = Deno.readTextFileSync(`/proc/${whom}/stat`);
  // The second field, a name, may hold spaces and parentheses.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
