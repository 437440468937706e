import { newToken, TOKEN } from "../../serve/access/token.ts";
import { UsageError } from "../exit.ts";
import { warn } from "../messages.ts";

/** Larger files are none of a token. */
const LARGEST = 4096;

/**
 * Reads a token; where the file is not there, makes one, which only its owner may read.
 *
 * @throws {UsageError} If there is something else in it.
 */
export function tokenIn(path: string): string {
  try {
    const { size, mode, isFile } = Deno.statSync(path);
    const token = isFile && size <= LARGEST
      ? Deno.readTextFileSync(path).trim()
      : "";
    if (!TOKEN.test(token)) {
      throw new UsageError(
        `${path} has no token: that is a line of 16 to 1,024 letters, digits and -._~+/`,
      );
    }
    if (((mode ?? 0) & 0o077) !== 0) {
      warn(`${path} can be read by other users: chmod 600 it`);
    }
    return token;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    const token = newToken();
    Deno.writeTextFileSync(path, `${token}\n`, {
      createNew: true,
      mode: 0o600,
    });
    return token;
  }
}
