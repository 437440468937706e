import { Buffer } from "node:buffer";
import { ByteOutput } from "../byte_output.ts";
import { formatFloat, formatNumber, formatString } from "../json/format.ts";
import { DEEPEST } from "../json/scanner.ts";
import type { PickleMachine } from "./machine.ts";
import { Tag, type ValueColumns } from "./columns.ts";

/** Limit of the text's size per byte of the pickle, plus `SPARE`. */
const MOST_EXPANSION = 16;
const SPARE = 1 << 20;

/**
 * Formats pickled values as JSON, as Python's `json.dumps` would. Tuples and sets become lists; bytes, for which JSON
 * has no form, Base64 strings.
 *
 * Bounded in size: a short pickle can refer to a value repeatedly, and so expand to a very long text.
 */
export class PickledJson extends ByteOutput {
  readonly #machine: PickleMachine;
  readonly #limit: number;
  #depth = 0;

  constructor(machine: PickleMachine) {
    super();
    this.#machine = machine;
    this.#limit = machine.bytes.length * MOST_EXPANSION + SPARE;
  }

  append(rows: ValueColumns, row: number): void {
    const scalar = this.#scalar(rows, row);
    if (scalar !== undefined) return this.write(scalar);
    const a = rows.a[row]!;
    switch (rows.tags[row]) {
      case Tag.BYTES:
        return this.#base64(this.#machine.bytes.subarray(a, a + rows.b[row]!));
      case Tag.SIDE:
        return this.#base64(this.#machine.side[a] as Uint8Array);
      case Tag.DICT:
        return this.#nested("{", "}", a);
      case Tag.LIST:
      case Tag.TUPLE:
      case Tag.SET:
        return this.#nested("[", "]", a);
      default:
        return this.#machine.fail("the pickle's data hold a class");
    }
  }

  write(text: string): void {
    this.#requireRoom(text.length);
    const at = this.grow(text.length);
    for (let i = 0; i < text.length; i++) {
      this.memory[at + i] = text.charCodeAt(i);
    }
  }

  #nested(open: string, close: string, container: number): void {
    if (++this.#depth > DEEPEST) {
      this.#machine.fail(`it is nested more than ${DEEPEST} levels deep`);
    }
    const { containers } = this.#machine;
    const { items } = containers;
    this.write(open);
    let isFirst = true;
    containers.forEachRun(container, (start, count) => {
      for (let row = start; row < start + count; row++) {
        if (!isFirst) this.write(", ");
        isFirst = false;
        if (open === "{") this.write(`${this.#key(items, row++)}: `);
        this.append(items, row);
      }
    });
    this.write(close);
    this.#depth--;
  }

  /** Formats a dict's key as the string that `json.dumps` makes of it. */
  #key(rows: ValueColumns, row: number): string {
    const key = this.#scalar(rows, row);
    if (key === undefined) {
      this.#machine.fail("a key is neither a string nor a number");
    }
    return key.startsWith('"') ? key : `"${key}"`;
  }

  /** Formats a string, number, boolean or None; returns `undefined` for anything else. */
  #scalar(rows: ValueColumns, row: number): string | undefined {
    const a = rows.a[row]!;
    switch (rows.tags[row]) {
      case Tag.NONE:
        return "null";
      case Tag.BOOL:
        return a === 1 ? "true" : "false";
      case Tag.INT:
        return formatNumber(a);
      case Tag.FLOAT:
        return formatFloat(a);
      case Tag.TEXT:
        // A long string may be referred to repeatedly: check its length before decoding it.
        this.#requireRoom(rows.b[row]!);
    }
    const text = this.#machine.text(rows, row);
    if (text !== undefined) return formatString(text);
    const side = rows.tags[row] === Tag.SIDE
      ? this.#machine.side[a]
      : undefined;
    return typeof side === "bigint" ? formatNumber(side) : undefined;
  }

  #requireRoom(length: number): void {
    if (this.length + length <= this.#limit) return;
    this.#machine.fail("its values make far more text than it has bytes");
  }

  #base64(bytes: Uint8Array): void {
    const base64 = Buffer.from(bytes).toString("base64");
    this.write(`"${base64}"`);
  }
}
