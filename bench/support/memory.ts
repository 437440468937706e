/** What the kernel says of a kind of memory, such as `MemAvailable`, in bytes. */
export async function memory(kind: string): Promise<number> {
  return await kilobytes("/proc/meminfo", kind);
}

/** Memory of this process that no file backs, in bytes. */
export async function anonymousMemory(): Promise<number> {
  return await kilobytes("/proc/self/status", "RssAnon");
}

/** Memory of a process, threads included, that is not just cached files, in bytes. */
export async function ownMemory(pid: number): Promise<number> {
  const status = `/proc/${pid}/status`;
  return await kilobytes(status, "RssAnon") +
    await kilobytes(status, "RssShmem");
}

/** {@linkcode ownMemory} of a process and of all it has started that still run. */
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
