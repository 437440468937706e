import { fileURLToPath } from "node:url";
import { runJson } from "../support/run.ts";
import { type FilesPass, type Place, withEnv } from "./passes.ts";
import type { Store } from "./stores.ts";

/** The client program. */
export const BARE_PROGRAM = fileURLToPath(
  new URL("bare_gets.ts", import.meta.url),
);
/** Bytes before an archive's tables, and of a sample's table entries; samples follow without gaps. */
const HEADER = 12;
const ENTRY = 12;

/** Bare requests, sent by a separate program. */
export interface Bare {
  readonly name: string;
  read(): Promise<FilesPass>;
}

/** Returns the command that requests ranges the size of a file, in random order. */
export function bareCommand(
  { files, size }: Pick<Place, "files" | "size">,
  { archive, env }: Pick<Store, "archive" | "env">,
  inFlight: number,
  reads: number,
): string[] {
  return [
    ...withEnv(env),
    ...[Deno.execPath(), "run", "-A", BARE_PROGRAM, archive, `${size}`],
    // One more sample contains the names.
    ...[`${files}`, `${HEADER + ENTRY * (files + 1)}`],
    ...[`${inFlight}`, `${reads}`],
  ];
}

/** Requests ranges the size of a file, in random order. */
export function bareGets(
  place: Place,
  store: Store,
  inFlight: number,
  reads: number,
): Bare {
  const command = bareCommand(place, store, inFlight, reads);
  return {
    name: `bare fetch, ${inFlight} in flight`,
    async read() {
      const { seconds } = await runJson<{ seconds: number }>(command);
      return { ready: 0, listed: 0, seconds, filesRead: reads, memory: 0 };
    },
  };
}
