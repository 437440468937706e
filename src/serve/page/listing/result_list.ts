/** Lists of entries from anywhere below a directory: search results and random samples. */
import type { Entry, RandomMessage, SearchLine } from "../../api/messages.ts";
import { get, isAbort, lines } from "../api.ts";
import { listOf, onRoute, parseRoute, type Route } from "../route.ts";
import { ArraySource } from "./source.ts";

/** Default number of random samples. */
const SAMPLES = 48;

type SearchEnd = Extract<SearchLine, { isComplete: true }>;

/** List that keeps loading while one of its entries is shown. */
export class ResultList {
  readonly source = new ArraySource<Entry>();
  /** Index of the entry opened last, or -1. */
  opened = -1;
  looked = 0;
  total = 0;
  end: SearchEnd | undefined;
  isCancelled = false;
  error: unknown;
  readonly key: string;
  readonly #controller = new AbortController();
  readonly #listeners = new Set<() => void>();

  constructor(route: Route) {
    this.key = keyOf(route)!;
    const { parameters, url: path } = route;
    const fill = parameters.get("show") === "search"
      ? this.#search(path, parameters.get("glob") ?? "")
      : this.#draw(path, seedIn(route), countIn(route));
    void fill.catch((error: unknown) => {
      if (isAbort(error)) this.isCancelled = true;
      else this.error = error;
    }).finally(() => {
      this.source.isGrowing = false;
      this.#tell();
    });
  }

  watch(onChange: () => void, signal: AbortSignal): void {
    this.#listeners.add(onChange);
    signal.addEventListener("abort", () => this.#listeners.delete(onChange));
  }

  /** Waits for an entry; `undefined` if the list ends before it. */
  async entryAt(index: number): Promise<Entry | undefined> {
    while (this.source.length <= index && this.source.isGrowing) {
      await new Promise<void>((resolve) => {
        const watching = new AbortController();
        this.watch(() => {
          watching.abort();
          resolve();
        }, watching.signal);
      });
    }
    return this.source.at(index);
  }

  /** Stops loading, and keeps the entries. */
  cancel(): void {
    this.#controller.abort();
  }

  async #search(path: string, glob: string): Promise<void> {
    const { signal } = this.#controller;
    for await (
      const line of lines<SearchLine>("search", { path, glob }, signal)
    ) {
      if ("entry" in line) this.source.items.push(line.entry);
      else {
        this.looked = line.looked;
        if ("isComplete" in line) this.end = line;
      }
      this.#tell();
    }
  }

  async #draw(path: string, seed: number, count: number): Promise<void> {
    const query = { path, count, seed };
    const { signal } = this.#controller;
    const answer = await get<RandomMessage>("random", query, signal);
    this.source.items.push(...answer.entries);
    this.total = answer.total;
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

export function seedIn({ parameters }: Route): number {
  return Math.max(0, Math.trunc(Number(parameters.get("seed"))) || 0);
}

function countIn({ parameters }: Route): number {
  return Math.trunc(Number(parameters.get("count"))) || SAMPLES;
}

/** Returns the key of the list at an address; `undefined` if it shows none. */
function keyOf(route: Route): string | undefined {
  const { url, parameters } = route;
  switch (parameters.get("show")) {
    case "search":
      return `search ${url} ${parameters.get("glob") ?? ""}`;
    case "random":
      return `random ${url} ${seedIn(route)} ${countIn(route)}`;
    default:
      return undefined;
  }
}

let current: ResultList | undefined;

/** Returns the list at an address: the current one, or a new one. */
export function resultList(route: Route): ResultList {
  if (current?.key !== keyOf(route)) {
    current?.cancel();
    current = new ResultList(route);
  }
  return current!;
}

export function listOpenedFrom(route: Route): ResultList | undefined {
  const hash = listOf(route);
  const list = hash === null ? undefined : parseRoute(hash);
  return list === undefined || keyOf(list) === undefined
    ? undefined
    : resultList(list);
}

/** Stops the current list unless the address shows it or one of its entries; drops a failed one for a retry. */
function leaveList(route: Route): void {
  const hash = listOf(route);
  const shown = keyOf(hash === null ? route : parseRoute(hash));
  if (current === undefined) return;
  if (current.key === shown && current.error === undefined) return;
  current.cancel();
  current = undefined;
}

onRoute(leaveList);
