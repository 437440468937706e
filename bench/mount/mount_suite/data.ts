import { run } from "../../support/run.ts";
import { KernelMount } from "./kernel_mount.ts";
import { missing } from "./packages.ts";
import { RECORDFS } from "./recordfs.ts";

/** What all contenders of a measurement serve, each from an image of its own. */
export interface Data {
  /** The FFRecord file. */
  readonly archive: string;
  /** Text beside it, `OFFSET LENGTH PATH` a line, for the C server. */
  readonly index: string;
  /** The files unpacked: on ext4, or where there is room if this can't be had. */
  readonly folder: string;
  /** Why the folder is not on ext4. */
  readonly folderLack: string | undefined;
  /** Path of one of the files, in the middle. */
  readonly file: string;
}

/** What an ext4 image has beside the files' bytes, for each of them and at least. */
const PER_FILE = 600;
const LEAST = 32e6;

/** Bytes of disk that {@linkcode unpack} takes. */
export function unpackedSize(files: number, bytes: number): number {
  return Math.ceil(1.05 * bytes + files * PER_FILE + LEAST);
}

/**
 * Unpacks a container to an ext4 file system in an image of its own.
 *
 * @param onMounted Has the mount that must be stopped.
 */
export async function unpack(
  archive: string,
  files: number,
  bytes: number,
  onMounted: (mounted: KernelMount) => void,
): Promise<Pick<Data, "folder" | "folderLack">> {
  const mountpoint = `${archive}.files`;
  const folder = `${mountpoint}/files`; // beside ext4's lost+found
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
      // No journal, small files in their inodes, and no thread that fills tables in later.
      ...["-I", "256", "-O", "inline_data,^has_journal"],
      ...["-E", "lazy_itable_init=0,nodiscard", image],
    ]);
    onMounted(await KernelMount.start("ext4", image, mountpoint, "noatime"));
  }
  await run([...RECORDFS, "extract", archive, folder]);
  return { folder, folderLack };
}
