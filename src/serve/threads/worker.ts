/**
 * Entry point of a serving thread, run by `answering_threads.ts`.
 *
 * @module
 */
import { threadScope } from "../../io/concurrency/thread.ts";
import { serializeError } from "../../base/serialized_error.ts";
import { answererOf } from "../handler.ts";
import { listen } from "../listen.ts";
import type { Access } from "../options.ts";
import type {
  HandlerReport,
  HandlerTask,
  OpenedToServe,
  ResponseTask,
} from "./messages.ts";
import { SharedCounts } from "./shared_counts.ts";

/** Accesses are reported after this many, and after this many milliseconds. */
const GATHERED = 256;
const AFTER = 100;

const scope = threadScope<HandlerTask, HandlerReport>();
let running: Promise<() => Promise<void>> | undefined;

scope.onmessage = async ({ data }) => {
  try {
    if (data.kind === "answer") {
      running = begin(data);
      await running;
      return;
    }
    const end = await running;
    await end?.();
    scope.postMessage({ kind: "ended" });
  } catch (error) {
    scope.postMessage({ kind: "failed", error: serializeError(error) });
  }
  scope.close();
};

/** Starts serving. Returns the function that stops it. */
async function begin(
  { opener, options, session, listening, counts, isLogged }: ResponseTask,
): Promise<() => Promise<void>> {
  const { openInThread }: {
    openInThread(data: unknown): Promise<OpenedToServe>;
  } = await import(opener.module);
  const { fs, sources } = await openInThread(opener.data);
  const onError = (error: unknown) =>
    scope.postMessage({ kind: "error", error: serializeError(error) });
  const answerer = answererOf(
    fs,
    { ...options, sources, onError },
    session,
    new SharedCounts(counts),
  );
  const accesses = new GatheredBody();
  const server = listen(listening, {
    answerer,
    patience: options.patience,
    onAccess: isLogged ? (access) => accesses.add(access) : undefined,
    onError,
  });
  return async () => {
    await server.close();
    answerer.close();
    accesses.tell();
    fs.close();
  };
}

/** Batches access log entries: a message for each would take as long as the response. */
class GatheredBody {
  #accesses: Access[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  add(access: Access): void {
    this.#accesses.push(access);
    if (this.#accesses.length === GATHERED) this.tell();
    else this.#timer ??= setTimeout(() => this.tell(), AFTER);
  }

  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const accesses = this.#accesses;
    this.#accesses = [];
    if (accesses.length > 0) scope.postMessage({ kind: "accesses", accesses });
  }
}
