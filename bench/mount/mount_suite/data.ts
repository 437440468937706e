import { run } from "../../support/run.ts";
import { KernelMount } from "./kernel_mount.ts";
import { missing } from "./packages.ts";
import { RECORDFS } from "./recordfs.ts";

/** Data that all contenders of a measurement serve, each from an image of its own. */
export interface Data {
  /** The FFRecord file. */
  readonly archive: string;
  /** Text file next to it, `OFFSET LENGTH PATH` a line, for the C server. */
  readonly index: string;
  /** Directory of the unpacked files: on ext4 if possible, else on any file system with room. */
  readonly folder: string;
  /** Why the folder is not on ext4. */
  readonly folderLack: string | undefined;
  /** Path of a file in the middle. */
  readonly file: string;
}

/** Overhead of an ext4 image in bytes, per file and fixed. */
const PER_FILE = 600;
const LEAST = 32e6;

/** Returns the bytes of disk that {@linkcode unpack} needs. */
export function unpackedSize(files: number, bytes: number): number {
  return Math.ceil(1.05 * bytes + files * PER_FILE + LEAST);
}

/**
 * Unpacks a container to an ext4 file system in an image of its own.
 *
 * @param onMounted Called with the mount that must be stopped.
 */
export async function unpack(
  archive: string,
  files: number,
  bytes: number,
  onMounted: (mounted: KernelMount) => void,
): Promise<Pick<Data, "folder" | "folderLack">> {
  const mountpoint = `${archive}.files`;
  const folder = `${mountpoint}/files`; // next to ext4's lost+found
  await Deno.mkdir(mountpoint);
  const folderLack = await missing(["root", "mkfs.ext4"]);
  if (folderLack === undefined) {
    const image = `${archive}.ext4`;
    await run(["truncate", "-s", `${unpackedSize(files, bytes)}`, image]);
    await run([
      ...[
        "mkfs.ext4",
        "-q",
        "-F",
        "-m",
        "0",
        "-N",
        `${Math.ceil(files * 1.1) + 1024}`,
      ],
      // No journal, small files in their inodes, no lazy initialization by a kernel thread.
      ...["-I", "256", "-O", "inline_data,^has_journal"],
      ...["-E", "lazy_itable_init=0,nodiscard", image],
    ]);
    onMounted(await KernelMount.start("ext4", image, mountpoint, "noatime"));
  }
  await run([...RECORDFS, "extract", archive, folder]);
  return { folder, folderLack };
}
