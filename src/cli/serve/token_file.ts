import * as fs from "node:fs";
import { newToken, TOKEN } from "../../serve/access/token.ts";
import { UsageError } from "../exit.ts";
import { warn } from "../messages.ts";

const LARGEST = 4096;

const OTHERS_WRITE = 0o022;
const OTHERS_USE = 0o077;

/**
 * Reads a token file. If it does not exist, creates it with a new token, readable only by its
 * owner. Throws if the file contains anything else, or another user may have written it.
 */
export function tokenIn(path: string): string {
  try {
    return readToken(path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT") throw error;
    const token = newToken();
    Deno.writeTextFileSync(path, `${token}\n`, {
      createNew: true,
      mode: 0o600,
    });
    return token;
  }
}

function readToken(path: string): string {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = fs.constants;
  // It may be a pipe; do not wait for it.
  const fd = fs.openSync(path, O_RDONLY | (O_NONBLOCK ?? 0) | (O_NOCTTY ?? 0));
  try {
    const stat = fs.fstatSync(fd);
    const fault = foreignOwner(fs.lstatSync(path)) ?? foreignOwner(stat) ??
      ((stat.mode & OTHERS_WRITE) === 0
        ? undefined
        : "other users can write to it. Check its content, and run chmod 600 on it");
    if (fault !== undefined) {
      throw new UsageError(`Cannot take the token from ${path}: ${fault}`);
    }
    const token = stat.isFile() && stat.size <= LARGEST
      ? textOf(fd).trim()
      : "";
    if (!TOKEN.test(token)) {
      throw new UsageError(
        `${path} has no token, which is a line of 16 to 1,024 letters, digits and -._~+/`,
      );
    }
    if ((stat.mode & OTHERS_USE) !== 0) {
      warn(`${path} can be read by other users. Run chmod 600 on it`);
    }
    return token;
  } finally {
    fs.closeSync(fd);
  }
}

/** Returns why the file, or a link to it, is rejected if another user owns it, who then knows the token. */
function foreignOwner({ uid }: fs.Stats): string | undefined {
  const own = ownUid();
  if (own === undefined || uid === own || uid === 0) return undefined;
  return `it belongs to user ${uid}. Give a file of your own`;
}

/** This user's id; `undefined` without `--allow-sys`. */
function ownUid(): number | undefined {
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "uid" });
  return state === "granted" ? Deno.uid() ?? undefined : undefined;
}

function textOf(fd: number): string {
  const bytes = new Uint8Array(LARGEST + 1);
  const length = fs.readSync(fd, bytes, 0, bytes.length, 0);
  return new TextDecoder().decode(bytes.subarray(0, length));
}
