import { Command } from "commander";
import { readMounts, RECORDFS_TYPE } from "../../fuse/mountinfo.ts";
import type { ServedCounts } from "../../fuse/request_counts.ts";
import { nameWriter } from "./escape.ts";
import { type RunningMount, runningMounts, statsOf } from "./mount_records.ts";
import { type MountState, mountState } from "./mount_state.ts";
import { readCounts } from "./mount_stats.ts";
import { withOutput } from "./output.ts";
import { isRunning } from "./processes.ts";

/** A mount as `recordfs mounts --json` prints it; `null` is what this user's records do not tell. */
interface ListedMount {
  readonly source: string;
  readonly mountpoint: string;
  /** The process that serves it. */
  readonly pid: number | null;
  /** The process that starts another one when that dies; `null` also where there is none. */
  readonly supervisor: number | null;
  readonly state: MountState;
  readonly started: string | null;
  /** Seconds since then. */
  readonly uptime: number | null;
  /** How often another process took over from one that died. */
  readonly restarts: number | null;
  /** Requests of the kernel by kind, a second ago; with those that earlier processes answered. */
  readonly requests: ServedCounts["requests"] | null;
  /** Bytes of the replies. */
  readonly bytes: number | null;
  /** Requests that ended with EIO. */
  readonly errors: number | null;
  readonly log: string | null;
  readonly version: string | null;
}

/** `recordfs mounts` */
export function mountsCommand(): Command {
  return new Command("mounts")
    .description("list what is mounted")
    .option("--json", "as a JSON array")
    .action(mounts);
}

async function mounts(options: { readonly json?: true }): Promise<void> {
  const running = runningMounts();
  const shown = readMounts().filter(({ type, mountpoint }) =>
    type === RECORDFS_TYPE ||
    // with -o subtype= it has another type
    running.some(({ record }) => record.mountpoint === mountpoint)
  );
  const list = await Promise.all(
    shown.map(async ({ source, mountpoint }): Promise<ListedMount> => {
      const found = running.find((one) => one.record.mountpoint === mountpoint);
      const state = await mountState(mountpoint);
      return { ...UNKNOWN, source, mountpoint, state, ...describe(found) };
    }),
  );
  await withOutput((out) => {
    out.put(options.json ? `${JSON.stringify(list, null, 2)}\n` : table(list));
    return Promise.resolve();
  });
}

/** What there is to say of a mount without a record. */
const UNKNOWN = {
  pid: null,
  supervisor: null,
  started: null,
  uptime: null,
  restarts: null,
  requests: null,
  bytes: null,
  errors: null,
  log: null,
  version: null,
} as const;

function describe(mount: RunningMount | undefined): Partial<ListedMount> {
  if (mount === undefined) return {};
  const { record, path } = mount;
  const { source, pid, started, log, version, supervised } = record;
  const uptime = Math.max(0, (Date.now() - Date.parse(started)) / 1000);
  const known = { source, pid, started, uptime, log, version };
  if (!supervised) return known; // one in the foreground, or of an earlier version
  const { supervisor, restarts } = supervised;
  return {
    ...known,
    supervisor: isRunning(supervisor) ? supervisor.pid : null,
    restarts,
    ...readCounts(statsOf(path)),
  };
}

/** Columns under their titles; nothing at all where there are no mounts. */
function table(list: readonly ListedMount[]): string {
  if (list.length === 0) return "";
  const shown = nameWriter();
  const rows = [
    [
      "SOURCE",
      "MOUNTPOINT",
      "PID",
      "SUPERVISOR",
      "STATE",
      "UPTIME",
      "RESTARTS",
      "REQUESTS",
      "BYTES",
      "ERRORS",
    ],
    ...list.map((mount) => [
      shown(mount.source),
      shown(mount.mountpoint),
      String(mount.pid ?? "-"),
      String(mount.supervisor ?? "-"),
      mount.state,
      mount.uptime === null ? "-" : duration(mount.uptime),
      String(mount.restarts ?? "-"),
      mount.requests === null ? "-" : String(total(mount.requests)),
      String(mount.bytes ?? "-"),
      String(mount.errors ?? "-"),
    ]),
  ];
  const widths = rows[0]!.map((_, column) =>
    Math.max(...rows.map((row) => row[column]!.length))
  );
  return rows.map((row) =>
    `${row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()}\n`
  ).join("");
}

function total(requests: ServedCounts["requests"]): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** A time such as `3d 4h`, `4h 5m` or `5m 6s`. */
function duration(seconds: number): string {
  const [s, m, h] = [seconds % 60, seconds / 60 % 60, seconds / 3600 % 24]
    .map(Math.floor) as [number, number, number];
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return `${days}d ${h}h`;
  return h > 0 ? `${h}h ${m}m` : `${m}m ${s}s`;
}
