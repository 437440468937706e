import { IntColumn } from "./int_column.ts";
import { ValueColumns } from "./value_columns.ts";

/**
 * The items of all tuples, lists, dicts and sets of one pickle. A container grows by segments
 * (a pickler writes at most 1000 items at a time), each a run in one shared column store; the
 * items of a dict alternate between key and value.
 */
export class Containers {
  readonly items: ValueColumns;
  readonly #firstSegment = new IntColumn();
  readonly #lastSegment = new IntColumn();
  readonly #starts = new IntColumn();
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
    const starts = this.#starts.values;
    const counts = this.#counts.values;
    if (last >= 0 && starts[last]! + counts[last]! === this.items.length) {
      counts[last]! += count; // the run goes on
    } else {
      const segment = this.#starts.length;
      this.#starts.push(this.items.length);
      this.#counts.push(count);
      this.#next.push(-1);
      if (last >= 0) this.#next.values[last] = segment;
      else this.#firstSegment.values[container] = segment;
      this.#lastSegment.values[container] = segment;
    }
    this.items.pushAll(values, from, count);
  }

  /** Calls `visit` with each run of a container's items, in order. */
  forEachRun(
    container: number,
    visit: (start: number, count: number) => void,
  ): void {
    for (
      let segment = this.#firstSegment.values[container]!;
      segment >= 0;
      segment = this.#next.values[segment]!
    ) {
      visit(this.#starts.values[segment]!, this.#counts.values[segment]!);
    }
  }
}
