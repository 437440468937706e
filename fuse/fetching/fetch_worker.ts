/**
 * Entry point of the thread that fetches a mount's remote files. `FetchThread` controls it.
 *
 * @module
 */

import { runAsync } from "../../src/io/concurrency/steps.ts";
import { threadScope } from "../../src/io/concurrency/thread.ts";
import type { RemoteSource } from "../../src/io/remote/remote_source.ts";
import { RemoteStorage } from "../../src/io/remote/remote_storage.ts";
import { FormatError } from "../../src/base/errors.ts";
import { reopenHandle, type TreeHandle } from "../../src/tree/tree.ts";
import { serializeError } from "../../src/base/serialized_error.ts";
import type { MessageListener } from "../../src/base/named_option.ts";
import { libc } from "../libc.ts";
import { EpochAhead } from "./epoch_ahead.ts";
import { FetchedReads } from "./fetched_reads.ts";
import type {
  DelegatedRequest,
  FetchRequest,
  FetchResponse,
  FromFetchThread,
  OpenedObject,
  PendingRequest,
  ToFetchThread,
  WantedObject,
  WantedPlace,
} from "./fetch_messages.ts";

const scope = threadScope<ToFetchThread, FromFetchThread>();
const log: MessageListener = (message, options) =>
  scope.postMessage({ kind: "log", message, options });

const storages = new Map<string, RemoteStorage>();
const objects: RemoteSource[] = [];
/** Numbers of objects that threads have opened, by path. */
const numbers = new Map<string, Promise<number>>();
const trace = (line: string) => scope.postMessage({ kind: "trace", line });
const reads = new FetchedReads(objects, log, trace);
/** Set if the tree has links to samples. */
let ahead: EpochAhead | undefined;
/** Descriptors of live threads. A promise each, because messages of two threads come in any order. */
const descriptors = new Map<number, PromiseWithResolvers<number>>();

scope.onmessage = ({ data }) => {
  if (data.kind === "open") void open(data.objects, data.places);
  else if (data.kind === "serve") {
    const descriptor = descriptors.get(data.thread);
    if (descriptor === undefined) libc().close(data.fd);
    else descriptor.resolve(data.fd);
  } else if (data.kind === "reach") {
    const { thread, port, asking } = data;
    descriptors.set(thread, Promise.withResolvers());
    port.onmessage = ({ data: said }: MessageEvent<DelegatedRequest>) => {
      if (said.kind === "read") {
        reads.add(said, async () => await descriptors.get(thread)?.promise);
      } else if (said.kind === "link") ahead?.follow(said.node);
      else objects[said.object]!.fetcher.hasRead(said.block);
    };
    asking.onmessage = ({ data: asked }: MessageEvent<PendingRequest>) =>
      void answer(asked, asking);
  } else if (data.kind === "follow") void follow(data.tree, data.sources);
  else if (data.kind === "ended") end(data.thread);
  else if (data.kind === "mounted") reads.mounted(data);
  else stop();
};

async function open(
  wanted: readonly WantedObject[],
  places: readonly WantedPlace[],
): Promise<void> {
  try {
    for (const place of places) storageOf(place);
    // Concurrently: each open may be a request.
    const opened = await Promise.all(wanted.map(openOne));
    objects.push(...opened);
    const maps = opened.map(({ fetcher }) => fetcher.map);
    scope.postMessage({ kind: "opened", maps });
  } catch (error) {
    scope.postMessage({ kind: "failed", error: serializeError(error) });
  }
}

async function follow(
  handle: TreeHandle,
  sources: readonly number[],
): Promise<void> {
  try {
    const tree = await reopenHandle(handle);
    const bySource = new Map(sources.map((at, i) => [at, objects[i]!]));
    ahead = new EpochAhead(tree, bySource);
  } catch {
    // Following links reads an index, which this thread must not block on: no prefetch then.
  }
}

async function openOne({ origin, tag }: WantedObject): Promise<RemoteSource> {
  const source = await runAsync(storageOf(origin).open(origin.path));
  if (source.tag === tag) return source;
  source.close();
  throw new FormatError(
    "changed",
    `Cannot read ${source.name}: it was replaced or changed after it was opened. Open it again`,
    { path: source.name, expected: tag, actual: source.tag },
  );
}

function storageOf(
  { url, options, warned, backoffs }: WantedPlace,
): RemoteStorage {
  const key = JSON.stringify([url, options]);
  let storage = storages.get(key);
  if (storage === undefined) {
    // The main thread has validated the cache, and responses to range requests reveal later changes.
    storage = new RemoteStorage(
      url,
      { ...options, onWarning: log },
      { believesCache: true, observer: reads.observer, warned, backoffs },
    );
    storages.set(key, storage);
  }
  return storage;
}

/** Responds to a thread that blocks until then. */
async function answer(
  { question, answered }: PendingRequest,
  port: MessagePort,
): Promise<void> {
  let answer: FetchResponse;
  try {
    answer = { value: await valueOf(question) };
  } catch (error) {
    answer = { error: serializeError(error) };
  }
  port.postMessage(answer);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

async function valueOf(question: FetchRequest): Promise<unknown> {
  if (question.about === "read") {
    const bytes = new Uint8Array(question.length);
    const { fetcher } = objects[question.object]!;
    await fetcher.read(bytes, question.offset, undefined);
    return bytes;
  }
  const { path } = question;
  const storage = storageAt(path);
  if (question.about === "list") return await runAsync(storage.list(path));
  if (question.about === "stat") return await runAsync(storage.stat(path));
  const object = await objectAt(path, storage);
  const { name, size, mtime, fetcher } = objects[object]!;
  const opened: OpenedObject = { object, name, size, mtime, map: fetcher.map };
  return opened;
}

/** Opens a file once: threads open and evict containers again and again. */
function objectAt(path: string, storage: RemoteStorage): Promise<number> {
  let opening = numbers.get(path);
  if (opening === undefined) {
    opening = runAsync(storage.open(path))
      .then((source) => objects.push(source) - 1);
    opening.catch(() => numbers.delete(path));
    numbers.set(path, opening);
  }
  return opening;
}

/** Returns the storage whose root shares the longest prefix with the path. */
function storageAt(path: string): RemoteStorage {
  const common = ({ root }: RemoteStorage) => {
    let length = 0;
    while (length < root.length && root[length] === path[length]) length++;
    return length;
  };
  return [...storages.values()].reduce((best, one) =>
    common(one) > common(best) ? one : best
  );
}

/** Closes the thread's descriptor: the kernel considers a mount served while any descriptor is open. */
function end(thread: number): void {
  const descriptor = descriptors.get(thread);
  descriptors.delete(thread);
  descriptor?.promise.then((fd) => libc().close(fd));
}

function stop(): void {
  reads.end();
  for (const thread of [...descriptors.keys()]) end(thread);
  for (const source of objects) source.close();
  // The sources finish closing, and save their counts, within this turn of the event loop.
  setTimeout(() => {
    scope.postMessage({ kind: "stopped" });
    scope.close();
  });
}
