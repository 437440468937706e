import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { systemCode } from "../../src/io/libc/system_error.ts";

/** The path of a `file:` URL. */
export const fromFileUrl: (url: URL) => string = fileURLToPath;

/** The repository's root, with a slash at its end. */
export const REPOSITORY = fromFileUrl(new URL("../../", import.meta.url));

/** Runs `body` with a temporary directory that is removed afterwards. */
export async function withTempDir(
  body: (dir: string) => Promise<void> | void,
): Promise<void> {
  await withNewDir(undefined, body);
}

/** Bytes that a place in memory has to have room for. */
const ROOM = 4e9;

/**
 * The same, in the system's memory where that can be: a disk's file system looks through what was removed of late for
 * each of many new files.
 */
export async function withMemoryDir(
  body: (dir: string) => Promise<void> | void,
): Promise<void> {
  const memory = "/dev/shm";
  await withNewDir(hasRoom(memory) ? memory : undefined, body);
}

async function withNewDir(
  parent: string | undefined,
  body: (dir: string) => Promise<void> | void,
): Promise<void> {
  const dir = await Deno.makeTempDir({
    prefix: "recordfs-test-",
    ...parent !== undefined && { dir: parent },
  });
  try {
    await body(dir);
  } catch (error) {
    await removeAll(dir).catch(() => {}); // what was wrong first is what is to be told
    throw error;
  }
  await removeAll(dir);
}

/** Whether there is such a place, with room for what tests write. */
function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = fs.statfsSync(path);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}

/** A process that has just ended may still write a last line, or hold what was mounted there. */
const MAY_PASS = ["ENOTEMPTY", "EBUSY"];

/** Removes a directory, as soon as processes of mounts let it. */
async function removeAll(dir: string): Promise<void> {
  for (let tries = 100;; tries--) {
    try {
      return await Deno.remove(dir, { recursive: true });
    } catch (error) {
      const code = systemCode(error) ?? "";
      if (tries === 0 || !MAY_PASS.includes(code)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
