/**
 * Thread that calls exports of modules; the other end of `CallThreads`.
 *
 * @module
 */
import { serializeError } from "../../base/serialized_error.ts";
import type { CallReport, CallTask } from "./call_threads.ts";
import { inTask, threadScope } from "./thread.ts";

const scope = threadScope<CallTask, CallReport>();

scope.onmessage = async ({ data: { module, name, args, busy } }) => {
  try {
    const exports = await import(module);
    scope.postMessage({ kind: "begun" });
    const result = await inTask<Uint8Array<ArrayBuffer>>(() =>
      exports[name](...args)
    );
    scope.postMessage({ kind: "result", result }, [result.buffer]);
  } catch (error) {
    scope.postMessage({ kind: "failed", error: serializeError(error) });
  } finally {
    Atomics.store(new Int32Array(busy), 0, 0);
  }
};
