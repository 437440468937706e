import { Command } from "commander";
import { readMounts, RECORDFS_TYPE } from "../../fuse/mountinfo.ts";
import { nameWriter } from "./escape.ts";
import { type MountRecord, runningMounts } from "./mount_records.ts";
import { type MountState, mountState } from "./mount_state.ts";
import { withOutput } from "./output.ts";

/** A mount as `recordfs mounts --json` prints it. */
interface ListedMount {
  readonly source: string;
  readonly mountpoint: string;
  /** The process that serves it, where this user's records name one. */
  readonly pid: number | null;
  readonly state: MountState;
  readonly started: string | null;
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
  const records = runningMounts();
  const shown = readMounts().filter(({ type, mountpoint }) =>
    type === RECORDFS_TYPE ||
    // with -o subtype= it has another type
    records.some((record) => record.mountpoint === mountpoint)
  );
  const list = await Promise.all(
    shown.map(async ({ source, mountpoint }) => {
      const record = records.find((one) => one.mountpoint === mountpoint);
      return describe(source, mountpoint, await mountState(mountpoint), record);
    }),
  );
  await withOutput((out) => {
    out.put(options.json ? `${JSON.stringify(list, null, 2)}\n` : table(list));
    return Promise.resolve();
  });
}

function describe(
  source: string,
  mountpoint: string,
  state: MountState,
  record: MountRecord | undefined,
): ListedMount {
  return {
    source: record?.source ?? source,
    mountpoint,
    pid: record?.pid ?? null,
    state,
    started: record?.started ?? null,
    log: record?.log ?? null,
    version: record?.version ?? null,
  };
}

/** Columns under their titles; nothing at all where there are no mounts. */
function table(list: readonly ListedMount[]): string {
  if (list.length === 0) return "";
  const shown = nameWriter();
  const rows = [
    ["SOURCE", "MOUNTPOINT", "PID", "STATE"],
    ...list.map(({ source, mountpoint, pid, state }) => [
      shown(source),
      shown(mountpoint),
      String(pid ?? "-"),
      state,
    ]),
  ];
  const widths = rows[0]!.map((_, column) =>
    Math.max(...rows.map((row) => row[column]!.length))
  );
  return rows.map((row) =>
    `${row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd()}\n`
  ).join("");
}
