import { Command, Option } from "commander";
import { MOST_WORKERS } from "../../../fuse/limits.ts";
import type { MountCommandOptions } from "../mount/job/mount_job.ts";
import { mount } from "../mount/start_mount.ts";
import {
  collect,
  subsetOption,
  wholeNumberFrom,
  withOptions,
} from "../input/options.ts";

export function makeCommand(): Command {
  const command = new Command("mount")
    .argument(
      "<source...>",
      "the container, or several, each shown in a directory of its name or in PATH; last, the mountpoint, " +
        "which is an empty directory",
    )
    .usage("[options] <source[=path]>... <mountpoint>")
    .option(
      "--prefix <path>",
      "mount only this directory of it, as the root",
    )
    .addOption(subsetOption())
    .option(
      "--shuffle <seed>",
      "also show directories of links in the shuffled order of an epoch, such as epoch-0000/00000000.jpg",
    )
    .option("--epoch <n>", "epochs to show: 3 or 0-9 (default: 0)")
    .option("-f, --foreground", "stay in the foreground; Ctrl-C unmounts")
    .option(
      "-o, --options <list>",
      "mount options: allow_other, nonempty, noexec, verify, no_verify, " +
        "uid=, gid=, umask=, max_read=, fsname=, subtype= and those of mount(8)",
      collect,
      [] as readonly string[],
    )
    .option(
      "--trace",
      "print each request of the kernel and its reply: to standard error with " +
        "-f, else to the log",
    )
    .option(
      "--workers <n>",
      "threads that serve the mount (default: the number of processors, from 2 to 8)",
      wholeNumberFrom(1, MOST_WORKERS),
    )
    .option(
      "--replace",
      "replace the server of a live mount by one of this version, with these options",
    )
    .addOption(
      new Option(
        "--on-failure <what>",
        "what to do with a mount that no server can serve any more: dead lets reads fail, unmount ends it " +
          "(default: dead)",
      ).choices(["dead", "unmount"]),
    )
    .addOption(new Option("--background <record>").hideHelp())
    .addOption(new Option("--sources <json>").hideHelp())
    .addOption(new Option("--hidden").hideHelp())
    .addOption(new Option("--held <descriptors>").hideHelp())
    .addOption(new Option("--counts <descriptor>").hideHelp());
  return withOptions(command, "source", "nested", "decoded", "verify")
    .action(mountGiven);
}

async function mountGiven(
  paths: readonly string[],
  options: MountCommandOptions,
  command: Command,
): Promise<void> {
  const sources = paths.slice(0, -1);
  if (sources.length === 0) {
    command.error("error: missing required argument 'mountpoint'");
  }
  await mount(sources, paths.at(-1)!, options);
}
