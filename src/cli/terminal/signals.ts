import { Exit } from "../exit.ts";

/** Numbers on Linux, from `asm-generic/signal.h`; they are the same on every system, see signal(7). */
const NUMBERS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };

export type EndSignal = keyof typeof NUMBERS;

const SIGNALS = Object.keys(NUMBERS) as EndSignal[];

/** Exit code that a shell reports for a program ended by a signal. */
export function signalExitCode(signal: EndSignal): number {
  return 128 + NUMBERS[signal];
}

/**
 * Calls `listener` for each signal to end, until disposed. `again` is true for every signal but the first: a user who
 * asks again wants an immediate end.
 */
export function onEndSignal(
  listener: (signal: EndSignal, again: boolean) => void,
): Disposable {
  let again = false;
  const added = SIGNALS.map((signal) => {
    const listen = () => {
      listener(signal, again);
      again = true;
    };
    Deno.addSignalListener(signal, listen);
    return { signal, listen };
  });
  return {
    [Symbol.dispose]() {
      for (const { signal, listen } of added) {
        Deno.removeSignalListener(signal, listen);
      }
    },
  };
}

/**
 * Runs work that must clean up after itself: a signal aborts it with {@linkcode Exit} as the reason, instead of ending
 * the process at once.
 */
export async function abortable<T>(
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  using _listening = onEndSignal((signal) =>
    controller.abort(new Exit(signalExitCode(signal)))
  );
  return await work(controller.signal);
}
