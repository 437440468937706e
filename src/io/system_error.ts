import { constants } from "node:os";

const CODES = new Map<number, string>(
  Object.entries(constants.errno).map(([code, errno]) => [errno, code]),
);

/** A refusal of the operating system, met below Deno: as `node:fs` throws them, with a `code`. */
export class SystemError extends Error {
  override name = "SystemError";
  /** Such as `ENOSPC`. */
  readonly code: string;

  /** @param text What the C library calls the error. */
  constructor(errno: number, text: string) {
    super(text);
    this.code = CODES.get(errno) ?? `errno ${errno}`;
  }
}

/** The word for what the system refused, such as `ENOENT`; `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === undefined && error instanceof Error) {
    // Deno gives rare errors no code, only a message.
    const errno = /\(os error (\d+)\)$/.exec(error.message)?.[1];
    return CODES.get(Number(errno));
  }
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code)
    ? code
    : undefined;
}
