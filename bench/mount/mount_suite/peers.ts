/** Other file systems to compare recordfs with, each with its best settings. */
import { MountedServer } from "../../support/mounted_server.ts";
import { run } from "../../support/run.ts";
import type { Contender, Kind, Serving } from "./contender.ts";
import type { Data } from "./data.ts";
import { KernelMount } from "./kernel_mount.ts";
import { missing } from "./packages.ts";

interface Peer {
  readonly kind: Kind;
  readonly name: string;
  /** Requirements, as for {@linkcode missing}. */
  readonly needs: readonly string[];
  /** File extension of the image. */
  readonly ending: string;
  /** Makes an uncompressed image of a folder. */
  make(folder: string, image: string): Promise<unknown>;
  start(image: string, mountpoint: string, file: string): Promise<Serving>;
}

const squashfuse: Peer = {
  kind: "squashfuse",
  name: "squashfuse_ll",
  needs: ["mksquashfs", "squashfuse_ll"],
  ending: "sqfs",
  // Files share no blocks, and a file no larger than one READ spans no second block.
  make: (folder, image) =>
    run([
      ...["mksquashfs", folder, image, "-quiet", "-no-progress"],
      ...["-noI", "-noId", "-noD", "-noF", "-noX", "-no-xattrs"],
      ...["-no-fragments", "-b", "131072"],
    ]),
  start: (image, mountpoint, file) =>
    MountedServer.start(
      ["squashfuse_ll", "-f", "-o", "clone_fd", image, mountpoint],
      mountpoint,
      file,
    ),
};

const fuseZip: Peer = {
  kind: "fuse-zip",
  name: "fuse-zip, stored",
  needs: ["zip", "fuse-zip"],
  ending: "zip",
  make: (folder, image) =>
    run(["sh", "-c", 'cd "$0" && exec zip -0 -q -r -X "$1" .', folder, image]),
  start: (image, mountpoint, file) =>
    MountedServer.start(
      [
        ...["fuse-zip", "-f", "-r", "-o"],
        "kernel_cache,entry_timeout=86400,attr_timeout=86400",
        ...[image, mountpoint],
      ],
      mountpoint,
      file,
    ),
};

const erofs: Peer = {
  kind: "EROFS",
  name: "kernel EROFS on a loop device",
  needs: ["root", "erofs", "mkfs.erofs"],
  ending: "erofs",
  make: (folder, image) =>
    run(["mkfs.erofs", "--quiet", "-x-1", image, folder]),
  start: (image, mountpoint, file) =>
    KernelMount.start("erofs", image, mountpoint, "ro", file),
};

const PEERS = [squashfuse, fuseZip, erofs] as const;

/** Returns the peers, each with an image of the data's folder if its programs are installed. */
export async function makePeers(data: Data): Promise<Contender[]> {
  return await Promise.all(PEERS.map(async (peer) => {
    const { kind, name, needs, ending, make, start } = peer;
    const image = `${data.archive}.${ending}`;
    const lack = await missing(needs);
    if (lack === undefined) await make(data.folder, image);
    return {
      kind,
      name,
      image,
      start: (mountpoint: string) => start(image, mountpoint, data.file),
      ...(lack === undefined ? {} : { missing: lack }),
    };
  }));
}

/** Returns the unpacked files themselves, already mounted and in the page cache. */
export function unpackedFiles({ folder, folderLack }: Data): Contender {
  return {
    kind: "ext4",
    name: "the files on ext4, all cached",
    image: folder,
    isCached: true,
    start: () =>
      Promise.resolve({
        mountpoint: folder,
        readyAfter: 0,
        stop: () => Promise.resolve(),
      }),
    ...(folderLack === undefined ? {} : { missing: folderLack }),
  };
}
