import { MountedServer } from "../../support/mounted_server.ts";
import type { Contender, Kind } from "./contender.ts";
import type { Data } from "./data.ts";
import { raiseReadAhead } from "./read_ahead.ts";

/** What the mount's read-ahead can be raised to: one request of the most that the kernel sends. */
const READ_AHEAD = 1024;

/** Numbers of threads that may be best for so many readers: measured, see `tuning.md`. */
export function likelyThreads(readers: number): readonly number[] {
  return readers === 1 ? [1, 3] : readers === 2 ? [2, 4] : [2, readers];
}

/** The C server with the flags of recordfs, in the ways and with the threads that may be its best. */
export function libfuse(
  server: string,
  data: Data,
  threads: readonly number[],
): Contender[] {
  return [
    ...threads.map((n) => reference(server, data, "libfuse", "splice", n)),
    ...threads.map((n) =>
      reference(server, data, "libfuse, from a map", "mmap-populated", n)
    ),
  ];
}

/** The C server, reading a large file: the kernel's limit to read-ahead holds, or is raised for it. */
export function libfuseSequential(server: string, data: Data): Contender[] {
  const contenders = libfuse(server, data, likelyThreads(1));
  return [
    libfuseDefaults(server, data),
    ...contenders,
    ...contenders.slice(-1).map((contender) => ({
      ...contender,
      name: `${contender.name}, read-ahead ${READ_AHEAD} KiB`,
      start: async (mountpoint: string) => {
        const mounted = await contender.start(mountpoint);
        await raiseReadAhead(mountpoint, READ_AHEAD);
        return mounted;
      },
    })),
  ];
}

/** The C server as libfuse makes it when nothing is asked for. */
function libfuseDefaults(server: string, data: Data): Contender {
  return {
    kind: "libfuse, defaults",
    name: "C libfuse, default settings",
    image: data.archive,
    start: (mountpoint) => start([server, "--defaults"], data, mountpoint),
  };
}

function reference(
  server: string,
  data: Data,
  kind: Kind,
  way: string,
  threads: number,
): Contender {
  return {
    kind,
    name: `C libfuse, ${way}, ${threads} thread${threads > 1 ? "s" : ""}`,
    image: data.archive,
    start: (mountpoint) =>
      start(
        [server, "--read", way, "--threads", `${threads}`],
        data,
        mountpoint,
      ),
  };
}

function start(
  command: readonly string[],
  { archive, index, file }: Data,
  mountpoint: string,
): Promise<MountedServer> {
  return MountedServer.start(
    [...command, archive, index, mountpoint],
    mountpoint,
    file,
  );
}
