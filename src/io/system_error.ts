let codes: Map<number, string> | undefined;

/** The word for an error number of this system, such as `ENOSPC`. */
function codeOf(errno: number): string | undefined {
  codes ??= new Map(
    // Loaded when it is needed: a program that meets no error would start 20 ms later.
    Object.entries(process.getBuiltinModule("node:os").constants.errno)
      .map(([code, errno]) => [errno, code]),
  );
  return codes.get(errno);
}

/** A refusal of the operating system, met below Deno: as `node:fs` throws them, with a `code`. */
export class SystemError extends Error {
  override name = "SystemError";
  /** Such as `ENOSPC`. */
  readonly code: string;

  /** @param text What the C library calls the error. */
  constructor(errno: number, text: string) {
    super(text);
    this.code = codeOf(errno) ?? `errno ${errno}`;
  }
}

/** The word for what the system refused, such as `ENOENT`; `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === undefined && error instanceof Error) {
    // Deno gives rare errors no code, only a message.
    const errno = /\(os error (\d+)\)$/.exec(error.message)?.[1];
    return errno === undefined ? undefined : codeOf(Number(errno));
  }
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code)
    ? code
    : undefined;
}
