/**
 * A thread that loads batches; `WorkerThread` is its other end.
 *
 * @module
 */
import process from "node:process";
import { workerData } from "node:worker_threads";
import { markLoaderThread } from "./loader_thread.ts";
import type { ToThread } from "./messages.ts";
import { ThreadLoader } from "./thread_loader.ts";

markLoaderThread();
const port = workerData as MessagePort;
const loader = new ThreadLoader((message, transfer) =>
  port.postMessage(message, transfer)
);

port.onmessage = ({ data }: MessageEvent<ToThread>) => {
  switch (data.kind) {
    case "start":
      return loader.start(data.setup);
    case "load":
      return loader.load(data);
    case "forget":
      return loader.forget(data.loop);
    case "close":
      loader.close().finally(() => process.exit(0));
  }
};
