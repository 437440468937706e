/** Returns the kernel's figure for a kind of memory, such as `MemAvailable`, in bytes. */
export async function memory(kind: string): Promise<number> {
  return await kilobytes("/proc/meminfo", kind);
}

/** Returns the anonymous memory of this process in bytes. */
export async function anonymousMemory(): Promise<number> {
  return await kilobytes("/proc/self/status", "RssAnon");
}

/** Returns the memory of a process in bytes, threads included, without memory that only caches files. */
export async function ownMemory(pid: number): Promise<number> {
  const status = `/proc/${pid}/status`;
  return await kilobytes(status, "RssAnon") +
    await kilobytes(status, "RssShmem");
}

/** Returns {@linkcode ownMemory} of a process and all its running descendants. */
export async function familyMemory(pid: number): Promise<number> {
  let bytes = await ownMemory(pid);
  for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
    const list = `/proc/${pid}/task/${name}/children`;
    const children = (await Deno.readTextFile(list)).trim();
    if (children === "") continue;
    for (const child of children.split(" ")) {
      bytes += await familyMemory(Number(child));
    }
  }
  return bytes;
}

async function kilobytes(file: string, kind: string): Promise<number> {
  const found = new RegExp(`^${kind}:\\s+(\\d+) kB$`, "m")
    .exec(await Deno.readTextFile(file));
  if (found === null) throw new Error(`${file} does not tell ${kind}`);
  return Number(found[1]) * 1024;
}
