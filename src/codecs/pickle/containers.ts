import { IntColumn } from "./int_column.ts";
import { ValueColumns } from "./value_columns.ts";

/**
 * The items of all tuples, lists, dicts and sets of one pickle. A container grows by segments
 * (a pickler writes at most 1000 items at a time), each a run in one shared column store; the
 * items of a dict alternate between key and value. Names with a number each may stay in the pickle
 * instead (`numbered_items.ts`).
 */
export class Containers {
  readonly items: ValueColumns;
  readonly #firstSegment = new IntColumn();
  readonly #lastSegment = new IntColumn();
  /** Row of the first item, or where the first name lies in the pickle. */
  readonly #starts = new IntColumn();
  /** Number of items, or of names, negative. */
  readonly #counts = new IntColumn();
  readonly #next = new IntColumn();

  /** @param capacity How many items to make room for at first. */
  constructor(capacity: number) {
    this.items = new ValueColumns(capacity);
  }

  /** How many containers there are. */
  get length(): number {
    return this.#firstSegment.length;
  }

  /** Names with a number each that are left in the pickle, of all containers. */
  numberedItems = 0;

  /** Makes an empty container and returns its number. */
  create(): number {
    this.#firstSegment.push(-1);
    this.#lastSegment.push(-1);
    return this.length - 1;
  }

  /** Adds the values `from … from + count` of `values` to a container. */
  append(
    container: number,
    values: ValueColumns,
    from: number,
    count: number,
  ): void {
    if (count === 0) return;
    const last = this.#lastSegment.values[container]!;
    const end = last < 0
      ? -1
      : this.#starts.values[last]! + this.#counts.values[last]!;
    if (end === this.items.length && this.#counts.values[last]! > 0) {
      this.#counts.values[last]! += count; // the run goes on
    } else this.#addSegment(container, this.items.length, count);
    this.items.pushAll(values, from, count);
  }

  /** Adds `count` names with a number each to a dict; the first lies at `start` in the pickle. */
  appendNumbered(container: number, start: number, count: number): void {
    this.#addSegment(container, start, -count);
    this.numberedItems += count;
  }

  #addSegment(container: number, start: number, count: number): void {
    const segment = this.#starts.length;
    this.#starts.push(start);
    this.#counts.push(count);
    this.#next.push(-1);
    const last = this.#lastSegment.values[container]!;
    if (last >= 0) this.#next.values[last] = segment;
    else this.#firstSegment.values[container] = segment;
    this.#lastSegment.values[container] = segment;
  }

  /**
   * Calls `visit` with each run of a container's items, in order, and `visitNumbered` with each run
   * of names that was left in the pickle.
   */
  forEachRun(
    container: number,
    visit: (start: number, count: number) => void,
    visitNumbered: (start: number, count: number) => void = noNames,
  ): void {
    for (
      let segment = this.#firstSegment.values[container]!;
      segment >= 0;
      segment = this.#next.values[segment]!
    ) {
      const count = this.#counts.values[segment]!;
      const start = this.#starts.values[segment]!;
      if (count > 0) visit(start, count);
      else visitNumbered(start, -count);
    }
  }
}

function noNames(): never {
  throw new TypeError("Only a dict has names with numbers");
}
