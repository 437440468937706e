import type { Command } from "commander";
import type { OwnAdapter } from "./commands/gulp/gulp.ts";

export interface CommandModule {
  /**
   * Creates the command for a program, without its description.
   *
   * @param adapter The user's adapter that a `gulp` line names.
   */
  makeCommand(program: Command, adapter: OwnAdapter | undefined): Command;
}

/** A command as listed in the program's help, and its lazily loaded module. */
export interface CommandEntry {
  readonly description: string;
  readonly usage: string;
  readonly load: () => Promise<CommandModule>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  "mount": {
    description: "mount a container as a read-only directory",
    usage: "[options] <source[=path]>... <mountpoint>",
    load: () => import("./commands/mount.ts"),
  },
  "unmount": {
    description: "unmount containers; also called umount",
    usage: "[options] <mountpoint...>",
    load: () => import("./commands/unmount.ts"),
  },
  "mounts": {
    description: "list mounts and their state",
    usage: "[options]",
    load: () => import("./commands/mounts.ts"),
  },
  "view": {
    description: "browse a container in a web browser",
    usage: "[options] <source[=path]>...",
    load: () => import("./commands/view.ts"),
  },
  "serve": {
    description:
      "serve a container over HTTP: a web page, files with ranges, WebDAV",
    usage: "[options] <source[=path]>...",
    load: () => import("./commands/serve.ts"),
  },
  "ls": {
    description: "list a directory of a container",
    usage: "[options] <source> [path]",
    load: () => import("./commands/ls.ts"),
  },
  "tree": {
    description: "draw a container's directories as a tree",
    usage: "[options] <source> [path]",
    load: () => import("./commands/tree.ts"),
  },
  "cat": {
    description: "write files of a container to standard output",
    usage: "[options] <source> <path...>",
    load: () => import("./commands/cat.ts"),
  },
  "stat": {
    description: "describe files and directories of a container",
    usage: "[options] <source> <path...>",
    load: () => import("./commands/stat.ts"),
  },
  "info": {
    description: "summarize a container: format, counts, sizes",
    usage: "[options] <source>",
    load: () => import("./commands/info.ts"),
  },
  "records": {
    description:
      "list the stored samples of a container: offset, size, checksum",
    usage: "[options] <source>",
    load: () => import("./commands/records.ts"),
  },
  "check": {
    description:
      "verify a container: checksums, video frames, indexes and references of bags",
    usage: "[options] <source>",
    load: () => import("./commands/check.ts"),
  },
  "extract": {
    description: "write a container's files to a directory",
    usage: "[options] <source> <target> [path...]",
    load: () => import("./commands/extract/extract.ts"),
  },
  "pack": {
    description: "pack a directory into a new .ffr file",
    usage: "[options] <source> <target>",
    load: () => import("./commands/pack.ts"),
  },
  "write": {
    description: "write samples to a new .ffr file",
    usage: "[options] <target> [source...]",
    load: () => import("./commands/write.ts"),
  },
  "convert": {
    description:
      "convert a container or folder to another format or generation",
    usage: "[options] <source> <target>",
    load: () => import("./commands/convert.ts"),
  },
  "bag": {
    description: "write datasets of bags (Bags, Granular)",
    usage: "[options] [command]",
    load: () => import("./commands/bag/bag_create.ts"),
  },
  "index": {
    description:
      "write the index of a container to a file, so that others open it at once",
    usage: "[options] <source>",
    load: () => import("./commands/index.ts"),
  },
  "split": {
    description: "split a container at random into index files",
    usage: "[options] <source>",
    load: () => import("./commands/split.ts"),
  },
  "bench-loader": {
    description: "measure how fast a container can be loaded for training",
    usage: "[options] <source>",
    load: () => import("./commands/bench_loader/bench_loader.ts"),
  },
  "cache": {
    description:
      "manage the cache on disk: blocks of remote containers, indexes of large files",
    usage: "[options] [command]",
    load: () => import("./commands/cache.ts"),
  },
  "doctor": {
    description:
      "test what works on this machine, and say how to fix what does not",
    usage: "[options] [source]",
    load: () => import("./commands/doctor/doctor.ts"),
  },
  "completions": {
    description: "print the completion script for a shell",
    usage: "[options] <shell>",
    load: () => import("./completions/completions.ts"),
  },
  "gulp": {
    description: "gulp a data set into GulpIO chunks, or repair chunks",
    usage: "[options] [command]",
    load: () => import("./commands/gulp/gulp.ts"),
  },
};
