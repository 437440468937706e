/**
 * Entry point of a serving thread. Run by `server.ts`.
 *
 * @module
 */

import { reachServersBy } from "../../src/io/storage/thread_storage.ts";
import { serializeError } from "../../src/base/serialized_error.ts";
import type { MessageListener } from "../../src/base/named_option.ts";
import { newStat, ROOT, type Tree } from "../../src/tree/tree.ts";
import { ConnectionState } from "./connection_state.ts";
import { openServingFunctions, serveDevice } from "./device.ts";
import { Delegation } from "../fetching/delegation.ts";
import type { PrepareMessage, ServeMessage, WorkerReport } from "./messages.ts";
import { OnceLog } from "../session/once_log.ts";
import { invalidateSampleChecks } from "../checksums/sample_checks_memory.ts";
import { RequestCounts } from "../session/request_counts.ts";
import { ServedDescriptor } from "./served_descriptor.ts";
import { servedSources } from "../content/served_sources.ts";
import { Session } from "../session/session.ts";
import { traceLine } from "../session/trace.ts";

interface WorkerScope {
  onmessage:
    | ((event: MessageEvent<PrepareMessage | ServeMessage>) => void)
    | null;
  postMessage(report: WorkerReport): void;
  close(): void;
}

const scope = globalThis as unknown as WorkerScope;
const onLog: MessageListener = (message, options) =>
  scope.postMessage({ kind: "log", message, options });

let serve: ((fd: number) => Promise<string | undefined>) | undefined;

scope.onmessage = async ({ data }) => {
  if (data.kind === "prepare") {
    try {
      serve = await prepare(data);
      scope.postMessage({ kind: "prepared" });
    } catch (error) {
      end(error);
    }
    return;
  }
  const descriptor = ServedDescriptor.from(data.descriptor);
  let failure: unknown;
  try {
    failure = await serve?.(descriptor.fd);
  } catch (error) {
    failure = error;
  } finally {
    descriptor.close();
  }
  end(failure);
};

async function prepare(
  {
    handle,
    sources: mapped,
    workers,
    owner,
    connection: memory,
    listAhead,
    checks,
    counts,
    trace,
    fetching,
  }: PrepareMessage,
): Promise<(fd: number) => Promise<string | undefined>> {
  if (fetching !== undefined) {
    const { BlockingStorage } = await import("../fetching/blocking_storage.ts");
    reachServersBy(new BlockingStorage(fetching.asking));
  }
  const module: { reopenTree(data: unknown): Tree | Promise<Tree> } =
    await import(handle.module);
  const tree = await module.reopenTree(handle.data);
  tree.stat(ROOT, newStat()); // fails before mounting if the root cannot be read here
  const truncations = new OnceLog(onLog);
  const sources = await servedSources(tree, mapped, workers, {
    invalidate: () => checks && invalidateSampleChecks(checks),
    log: onLog,
  });
  const connection = new ConnectionState(memory);
  const session = new Session(tree, {
    owner,
    connection,
    listAhead,
    sources,
    checks,
    delegation: fetching && new Delegation(fetching.port),
    canLoad: true,
    onLog,
  });
  openServingFunctions();
  return async (fd) => {
    try {
      return await serveDevice({
        fd,
        session,
        sources,
        connection,
        counts: new RequestCounts(counts),
        onRequest: trace
          ? () =>
            scope.postMessage({
              kind: "trace",
              line: traceLine(session.request, session.reply),
            })
          : undefined,
        onServing: () => scope.postMessage({ kind: "serving" }),
        onLog: (message, options) => truncations.log(message, options),
      });
    } finally {
      session.end();
      sources.close();
      tree.close();
    }
  };
}

function end(thrown: unknown): void {
  const failure = thrown === undefined ? undefined : serializeError(thrown);
  scope.postMessage({ kind: "ended", failure });
  scope.close();
}
