import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { systemCode } from "../../src/io/libc/system_error.ts";

/** Returns the path of a `file:` URL. */
export const fromFileUrl: (url: URL) => string = fileURLToPath;

/** Root of the repository, with a trailing slash. */
export const REPOSITORY = fromFileUrl(new URL("../../", import.meta.url));

/** Runs `body` with a temporary directory that is removed afterwards. */
export async function withTempDir(
  body: (dir: string) => Promise<void> | void,
): Promise<void> {
  await withNewDir(undefined, body);
}

/** Free bytes that a file system in memory must have. */
const ROOM = 4e9;

/** The same, in memory if possible. Creating many files on a disk is slow after many were removed. */
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
    await removeAll(dir).catch(() => {}); // the first error is reported
    throw error;
  }
  await removeAll(dir);
}

/** Whether a file system exists and has enough room for tests. */
function hasRoom(path: string): boolean {
  try {
    const { bavail, bsize } = fs.statfsSync(path);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}

/** Errors that pass: a process that is just ending may write a last line, or keep a mount busy. */
const MAY_PASS = ["ENOTEMPTY", "EBUSY"];

/** Removes a directory, retrying while processes of mounts still use it. */
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
