/** Columns of a table: visibility, order and width. The choices are in the address. */
import type { RowsMessage } from "../../api/messages.ts";
import { columnParameters, keepInAddress, type Route } from "../route.ts";

export type Column = RowsMessage["keys"][number];

/** Id of the name column: encoded keys cannot contain this character. */
export const NAME_ID = "@";
const EMPTY_ID = "@@";

/** Maximum number of columns shown; the others are in the datapoint's view. */
const MOST_COLUMNS = 40;

const MOST_IN_ADDRESS = 1000;

/** Widths in pixels. */
export const LEAST_WIDTH = 56;
export const MOST_WIDTH = 1200;
const USUAL_WIDTH = 112;
const NAME_WIDTH = 144;

export function idOf(key: string): string {
  return key === "" ? EMPTY_ID : encodeURIComponent(key.toWellFormed());
}

function clamped(width: number): number {
  return Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, Math.round(width)));
}

export class Columns {
  readonly #route: Route;
  readonly #onChange: (isWidth: boolean) => void;
  #natural: readonly Column[] = [];
  #usual: ReadonlyMap<string, number> = new Map();
  #numeric: ReadonlySet<string> = new Set();
  #order: readonly string[];
  readonly #hidden: Set<string>;
  readonly #widths: Map<string, number>;

  /**
   * @param route Route of the view, whose address stores the choices.
   * @param onChange Called after each choice, with whether it was a width.
   */
  constructor(route: Route, onChange: (isWidth: boolean) => void) {
    this.#route = route;
    this.#onChange = onChange;
    const { order, hide, width } = columnParameters(route);
    this.#order = listIn(order);
    this.#hidden = new Set(listIn(hide));
    this.#widths = new Map(
      listIn(width).flatMap((part) => {
        const [, id, pixels] = /^(.+):(\d{1,5})$/.exec(part) ?? [];
        return id === undefined ? [] : [[id, clamped(Number(pixels))] as const];
      }),
    );
  }

  /** Sets the available columns, with their natural widths and the numeric ones, which are aligned right. */
  set(
    columns: readonly Column[],
    widths: ReadonlyMap<string, number>,
    numeric: ReadonlySet<string>,
  ): void {
    this.#natural = columns;
    this.#numeric = numeric;
    this.#usual = new Map(
      [...widths].map(([key, width]) => [idOf(key), width]),
    );
  }

  get all(): readonly Column[] {
    const places = new Map(this.#order.map((id, at) => [id, at]));
    const placeOf = ({ key }: Column) => places.get(idOf(key)) ?? Infinity;
    return this.#natural.toSorted((a, b) => {
      const [first, second] = [placeOf(a), placeOf(b)];
      return first === second ? 0 : first - second;
    });
  }

  get shown(): readonly Column[] {
    return this.all.filter(({ key }) => this.isShown(idOf(key)))
      .slice(0, MOST_COLUMNS);
  }

  get omitted(): number {
    const wanted = this.all.filter(({ key }) => this.isShown(idOf(key)));
    return Math.max(0, wanted.length - MOST_COLUMNS);
  }

  isShown(id: string): boolean {
    return !this.#hidden.has(id);
  }

  isNumeric(key: string): boolean {
    return this.#numeric.has(key);
  }

  /** In pixels. */
  widthOf(id: string): number {
    return this.#widths.get(id) ?? this.#usual.get(id) ??
      (id === NAME_ID ? NAME_WIDTH : USUAL_WIDTH);
  }

  get #ids(): readonly string[] {
    return [NAME_ID, ...this.shown.map(({ key }) => idOf(key))];
  }

  get width(): number {
    return this.#ids.reduce((sum, id) => sum + this.widthOf(id), 0);
  }

  /** Column template of the CSS grid. Columns without a chosen width share the remaining room. */
  get template(): string {
    return this.#ids.map((id) => {
      const width = this.widthOf(id);
      return this.#widths.has(id)
        ? `${width}px`
        : `minmax(${width}px, ${width}fr)`;
    }).join(" ");
  }

  /** Sets a width; `undefined` restores the natural one. */
  resize(id: string, width: number | undefined): void {
    if (width === undefined) this.#widths.delete(id);
    else this.#widths.set(id, clamped(width));
    this.#keep(true);
  }

  toggle(id: string): void {
    if (!this.#hidden.delete(id)) this.#hidden.add(id);
    this.#keep(false);
  }

  move(id: string, by: -1 | 1): void {
    const ids = this.all.map(({ key }) => idOf(key));
    const from = ids.indexOf(id);
    const to = from + by;
    if (from < 0 || to < 0 || to >= ids.length) return;
    [ids[from], ids[to]] = [ids[to]!, ids[from]!];
    const natural = this.#natural.map(({ key }) => idOf(key));
    this.#order = ids.every((id, at) => id === natural[at]) ? [] : ids;
    this.#keep(false);
  }

  reset(): void {
    this.#order = [];
    this.#hidden.clear();
    this.#widths.clear();
    this.#keep(false);
  }

  #keep(isWidth: boolean): void {
    const widths = [...this.#widths].map(([id, width]) => `${id}:${width}`);
    keepInAddress(this.#route, {
      order: joined(this.#order),
      hide: joined([...this.#hidden]),
      width: joined(widths),
    });
    this.#onChange(isWidth);
  }
}

function listIn(text: string | null | undefined): string[] {
  return text ? text.split(",", MOST_IN_ADDRESS) : [];
}

function joined(parts: readonly string[]): string | null {
  return parts.length === 0 ? null : parts.join(",");
}
