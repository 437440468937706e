import { Command } from "commander";
import { type ListedMount, listMounts } from "../mount/listed_mounts.ts";
import { warn } from "../messages.ts";
import { formatFetched } from "../terminal/amounts.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";

export function makeCommand(): Command {
  return new Command("mounts")
    .option("--json", "print a JSON array")
    .action(mounts);
}

async function mounts(options: { readonly json?: true }): Promise<void> {
  const list = await listMounts();
  print(options.json ? list : table(list, COLUMNS));
  if (options.json) return;
  for (const { mountpoint, state, reason, log } of list) {
    if (state !== "dead") continue;
    warn(
      `${mountpoint} is dead${reason === null ? "" : `: ${reason}`}; ${
        log === null ? "" : `its log is ${log}; `
      }\`recordfs unmount\` removes it, \`recordfs mount\` mounts it again`,
    );
  }
}

const COLUMNS: Readonly<
  Record<string, (mount: ListedMount) => string | number | null | undefined>
> = {
  SOURCE: ({ source }) => nameWriter()(source),
  MOUNTPOINT: ({ mountpoint }) => nameWriter()(mountpoint),
  PID: ({ pid }) => pid,
  SUPERVISOR: ({ supervisor }) => supervisor,
  STATE: ({ state }) => state,
  UPTIME: ({ uptime }) => uptime === null ? null : duration(uptime),
  RESTARTS: ({ restarts }) => restarts,
  REQUESTS: ({ requests }) =>
    requests && Object.values(requests).reduce((sum, count) => sum + count, 0),
  BYTES: ({ bytes }) => bytes,
  ERRORS: ({ errors }) => errors,
  FETCHED: ({ fetched }) => fetched && formatFetched(fetched),
  OPTIONS: ({ options }) => nameWriter()(options?.join(" ") || "-"),
};

/** Formats a duration such as `3d 4h`, `4h 5m` or `5m 6s`. */
function duration(seconds: number): string {
  const [s, m, h] = [seconds % 60, seconds / 60 % 60, seconds / 3600 % 24]
    .map(Math.floor) as [number, number, number];
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return `${days}d ${h}h`;
  return h > 0 ? `${h}h ${m}m` : `${m}m ${s}s`;
}
