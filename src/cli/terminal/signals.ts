import { Exit } from "../exit.ts";

/** Numbers on Linux, from `asm-generic/signal.h`; signal(7) has the same for every system. */
const NUMBERS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 };

/** The signals that ask a program to end. */
export type EndSignal = keyof typeof NUMBERS;

const SIGNALS = Object.keys(NUMBERS) as EndSignal[];

/** What a shell reports for a program that ended by a signal. */
export function signalExitCode(signal: EndSignal): number {
  return 128 + NUMBERS[signal];
}

/**
 * Calls `listener` for each signal that asks to end, until disposed.
 *
 * @param listener Is told as well whether it is not the first one: whoever asks again wants an end
 * at once.
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
 * Runs work that has to clean up after itself: a signal aborts it with {@linkcode Exit} as its
 * reason instead of ending the process on the spot.
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
