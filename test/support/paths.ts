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
  const dir = await Deno.makeTempDir({ prefix: "recordfs-test-" });
  try {
    await body(dir);
  } finally {
    await removeAll(dir);
  }
}

/** Removes a directory, in which processes of a mount that has just ended may still write a last line. */
async function removeAll(dir: string): Promise<void> {
  for (let tries = 100;; tries--) {
    try {
      return await Deno.remove(dir, { recursive: true });
    } catch (error) {
      if (tries === 0 || systemCode(error) !== "ENOTEMPTY") throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
