/** Datapoints of a list as table rows, loaded when they scroll into view. */
import type { Entry, Row, RowsMessage } from "../../api/messages.ts";
import { isAbort, messageOf, ServerError } from "../api.ts";
import { describedEntry } from "../entries_ahead.ts";
import { onServerBack } from "../server_state.ts";
import type { PlacedRow } from "./row_lines.ts";
import { hold, type Source } from "./source.ts";

/** Maximum number of rows loaded at a time, and cached. */
const MOST_ASKED = 4;
const MOST_ROWS = 1000;

export class EntryRows implements Source<PlacedRow> {
  /** Keys of the loaded rows, in order, with their types. */
  readonly keys: RowsMessage["keys"][number][] = [];
  problem: string | null = null;
  readonly #entries: Source<Entry>;
  readonly #onChange: (hasNewKeys: boolean) => void;
  readonly #signal: AbortSignal;
  /** By index, in LRU order. */
  readonly #rows = new Map<number, Row>();
  readonly #asked = new Set<number>();
  #wanted: readonly [number, number] = [0, 0];

  constructor(
    entries: Source<Entry>,
    onChange: (hasNewKeys: boolean) => void,
    signal: AbortSignal,
  ) {
    this.#entries = entries;
    this.#onChange = onChange;
    this.#signal = signal;
    onServerBack(() => this.#askNext(), signal);
  }

  get length(): number {
    return this.#entries.length;
  }

  get isGrowing(): boolean {
    return this.#entries.isGrowing;
  }

  get rows(): readonly Row[] {
    return [...this.#rows.values()];
  }

  at(index: number): PlacedRow | undefined {
    const entry = this.#entries.at(index);
    if (entry === undefined) return undefined;
    return entry.kind === "datapoint" ? this.#rows.get(index) : null;
  }

  want(first: number, end: number): void {
    this.#wanted = [first, end];
    this.#askNext();
  }

  #askNext(): void {
    const [first, end] = this.#wanted;
    for (let i = first; i < end && this.#asked.size < MOST_ASKED; i++) {
      const entry = this.#entries.at(i);
      if (entry?.kind !== "datapoint" || this.#asked.has(i)) continue;
      if (!this.#rows.has(i)) void this.#ask(i, entry);
    }
  }

  async #ask(index: number, entry: Entry): Promise<void> {
    this.#asked.add(index);
    let isGone = false;
    try {
      const row = await this.#row(index, entry);
      hold(this.#rows, index, row, MOST_ROWS);
      this.problem = null;
      this.#onChange(this.#addKeys(row));
    } catch (error) {
      isGone = true;
      if (isAbort(error)) return;
      this.problem = messageOf(error);
      this.#onChange(false);
    } finally {
      this.#asked.delete(index);
    }
    if (!isGone && !this.#signal.aborted) this.#askNext();
  }

  async #row(index: number, entry: Entry): Promise<Row> {
    try {
      const { view } = await describedEntry(entry.url, this.#signal);
      const cells = view?.kind === "datapoint" ? view.cells : [];
      return { entry, index, cells, damage: null };
    } catch (error) {
      const isDamaged = error instanceof ServerError &&
        error.code === "damaged";
      if (!isDamaged) throw error;
      return { entry, index, cells: [], damage: error.message };
    }
  }

  #addKeys({ cells }: Row): boolean {
    let isNew = false;
    for (const { key, type } of cells) {
      if (this.keys.some((known) => known.key === key)) continue;
      this.keys.push({ key, type });
      isNew = true;
    }
    return isNew;
  }
}
