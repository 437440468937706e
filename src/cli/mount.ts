import { resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { DEFAULT_WORKERS, MOST_WORKERS } from "../../fuse/limits.ts";
import { parseMountOptions } from "../../fuse/mount_options.ts";
import { MountError } from "../../fuse/mount_error.ts";
import { mountInBackground, type MountJob } from "./background.ts";
import { UsageError } from "./exit.ts";
import { takeSourceOptions } from "./helper_form.ts";
import { refuseStale } from "./mount_state.ts";
import { serveForeground, serveInBackground } from "./serve.ts";
import {
  checkExt,
  checkGiven,
  type SourceOptions,
  withSourceOptions,
} from "./source.ts";

interface MountCommandOptions extends SourceOptions {
  readonly foreground?: true;
  readonly options: readonly string[];
  readonly trace?: true;
  readonly workers?: number;
  /** Set in the process that `recordfs mount` leaves in the background. */
  readonly background?: string;
}

/** `recordfs mount` */
export function mountCommand(): Command {
  const command = new Command("mount")
    .description("show a container to every program, as a directory")
    .argument("<source>", "the container")
    .argument("<mountpoint>", "an empty directory")
    .option("-f, --foreground", "stay; Ctrl-C unmounts")
    .option(
      "-o, --options <list>",
      "mount options: allow_other, default_permissions, nonempty, noexec, " +
        "uid=, gid=, umask=, max_read=, fsname=, subtype= and those of mount(8)",
      (list: string, before: readonly string[]) => [...before, list],
      [] as readonly string[],
    )
    .option(
      "--trace",
      "print each request of the kernel and its reply: to standard error with " +
        "-f, else to the log",
    )
    .option(
      "--workers <n>",
      `threads that serve it, ${DEFAULT_WORKERS} unless given`,
      parseWorkers,
    )
    .addOption(new Option("--background <record>").hideHelp());
  return withSourceOptions(command).action(mount);
}

function parseWorkers(text: string): number {
  const count = Number(text);
  if (/^[1-9][0-9]?$/.test(text) && count <= MOST_WORKERS) return count;
  throw new InvalidArgumentError(
    `It must be a whole number from 1 to ${MOST_WORKERS}.`,
  );
}

async function mount(
  source: string,
  mountpoint: string,
  options: MountCommandOptions,
): Promise<void> {
  checkGiven(source, "the container");
  checkGiven(mountpoint, "the mountpoint");
  const list = options.options.join(",");
  const taken = takeSourceOptions(list);
  const job: MountJob = {
    source: resolve(source),
    mountpoint: resolve(mountpoint),
    options: taken.rest,
    format: options.format ?? taken.format,
    ext: options.ext ?? taken.ext,
    trace: options.trace === true,
    workers: options.workers,
  };
  checkExt(job);
  try {
    parseMountOptions(job.options); // wrong ones are a matter of the command line
  } catch (error) {
    if (error instanceof MountError) throw new UsageError(error.message);
    throw error;
  }
  if (options.background !== undefined) {
    await serveInBackground(job, options.background);
    return;
  }
  await refuseStale(job.mountpoint);
  if (options.foreground) await serveForeground(job);
  else await mountInBackground(job);
}
