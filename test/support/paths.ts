import { fileURLToPath } from "node:url";

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
    await Deno.remove(dir, { recursive: true });
  }
}
