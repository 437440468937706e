import { MountedServer } from "../../support/mounted_server.ts";
import type { Contender, Kind } from "./contender.ts";
import type { Data } from "./data.ts";
import { raiseReadAhead } from "./read_ahead.ts";

/** Raised read-ahead of the mount in KiB: the size of the largest read request that the kernel sends. */
const READ_AHEAD = 1024;

/** Returns the thread counts that may be best for this many readers; `tuning.md` has the measurements. */
export function likelyThreads(readers: number): readonly number[] {
  return readers === 1 ? [1, 3] : readers === 2 ? [2, 4] : [2, readers];
}

/** Returns the C server with the FUSE flags of recordfs, for each candidate way of reading and thread count. */
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

/** Returns the C server reading a large file, with the kernel's default read-ahead and with a raised limit. */
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

/** Returns the C server with libfuse's default settings. */
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
