import { messageOf } from "../../../base/message_text.ts";
import { mount } from "../../../../fuse/mount_container.ts";
import { dump } from "../../../formats/ffrecord/write/dump.ts";
import {
  fails,
  failure,
  type Finding,
  limited,
  textOf,
  works,
} from "./finding.ts";

/** Bit of `CAP_SYS_ADMIN` (capabilities(7)) in `/proc/self/status`, which mount(2) requires. */
const CAP_SYS_ADMIN = 21n;

const PACKAGE = "install the package fuse3";

export async function lookAtMounting(): Promise<Finding[]> {
  if (Deno.build.os !== "linux") return [];
  const isRoot = hasCapability();
  return [
    device(isRoot),
    await fusermount(isRoot),
    allowOther(isRoot),
    await trial(),
  ];
}

/** Whether this process may call mount(2). */
function hasCapability(): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m
    .exec(textOf("/proc/self/status")) ?? [];
  return effective !== undefined &&
    (BigInt(`0x${effective}`) >> CAP_SYS_ADMIN & 1n) === 1n;
}

function device(isRoot: boolean): Finding {
  try {
    Deno.openSync("/dev/fuse", { read: true, write: true }).close();
    return works("/dev/fuse", "it can be opened");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return fails(
        "/dev/fuse",
        "it is missing",
        "modprobe fuse; in Docker, --device /dev/fuse (docs/docker.md)",
      );
    }
    const why = messageOf(error);
    const remedy =
      "chmod 666 /dev/fuse, its usual mode; in Docker, --device /dev/fuse";
    return isRoot ? fails("/dev/fuse", why, remedy) : limited(
      "/dev/fuse",
      `${why}: mounts do not survive a crash of their server`,
      remedy,
    );
  }
}

async function fusermount(isRoot: boolean): Promise<Finding> {
  try {
    const { stdout } = await new Deno.Command("fusermount3", {
      args: ["--version"],
      stderr: "null",
    }).output();
    return works("fusermount3", new TextDecoder().decode(stdout).trim());
  } catch {
    const says = "it is not in PATH";
    return isRoot
      ? works("fusermount3", `${says}; root does not need it`)
      : fails(
        "fusermount3",
        says,
        `${PACKAGE}, or mount as root; in Docker, --cap-add SYS_ADMIN`,
      );
  }
}

function allowOther(isRoot: boolean): Finding {
  const says = "other users can use a mount with -o allow_other";
  if (isRoot) return works("allow_other", says);
  return /^\s*user_allow_other\s*$/m.test(textOf("/etc/fuse.conf"))
    ? works("allow_other", says)
    : limited(
      "allow_other",
      "only this user can use this user's mounts",
      "as root, add the line user_allow_other to /etc/fuse.conf",
    );
}

/** Mounts a container with one file, and reads it, to detect any other obstacle. */
async function trial(): Promise<Finding> {
  const what = "mounting";
  let directory: string | undefined;
  try {
    directory = await Deno.makeTempDir({ prefix: "recordfs-doctor-" });
    const file = `${directory}/one.ffr`;
    const point = `${directory}/mounted`;
    await Deno.mkdir(point);
    await dump([new TextEncoder().encode("works")], file, 1);
    const start = performance.now();
    await using _mounted = await mount(file, point, { workers: 1 });
    const text = await Deno.readTextFile(`${point}/000000`);
    if (text !== "works") {
      throw new Error(`the mounted file has ${JSON.stringify(text)}`);
    }
    const time = Math.ceil(performance.now() - start);
    return works(what, `a file was mounted and read in ${time} ms`);
  } catch (error) {
    return failure(what, error, "see docs/trouble.md");
  } finally {
    if (directory !== undefined) await removeAll(directory);
  }
}

async function removeAll(directory: string): Promise<void> {
  try {
    await Deno.remove(directory, { recursive: true });
  } catch {
    // Something is still mounted there; `mounts` shows it.
  }
}
