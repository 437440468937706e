import type { ByteReader } from "./byte_reader.ts";
import { opcodeName } from "./opcodes.ts";
import { PickleError } from "./pickle_error.ts";
import type { PickleState } from "./state.ts";
import { Tag } from "./columns.ts";

/** Roles of classes that a pickle may name, by the number that stands for them in a row of {@linkcode Tag.CLASS}. */
const ROLES = [
  /** Called with nothing or a list of pairs, it makes a dict. */
  "dict",
  /** Called with three values, it makes a tuple of them. */
  "triple",
  /** The function by which protocols 0 and 1 make a tuple of a named class. */
  "reconstructor",
  /** The type `tuple`, as an argument of that function. */
  "tuple",
] as const;

/** Role of a class that a pickle may name. */
export type ClassRole = typeof ROLES[number];

/** Classes that a pickle may name, as `module.name`, and what each makes. */
export type AllowedClasses = ReadonlyMap<string, ClassRole>;

/** The one class that plain data and folder structures are made of. */
export const ORDERED_DICT: AllowedClasses = new Map([
  ["collections.OrderedDict", "dict"],
]);

/** The calls that a pickle may ask for. None runs any code: each makes a row of columns. */
export class ClassCalls {
  readonly #input: ByteReader;
  readonly #state: PickleState;
  readonly #allowed: AllowedClasses;

  constructor(input: ByteReader, state: PickleState, allowed: AllowedClasses) {
    this.#input = input;
    this.#state = state;
    this.#allowed = allowed;
  }

  /** Pushes a class, or refuses it by name. */
  pushClass(module: string, name: string): void {
    const path = `${module}.${name}`;
    const role = this.#allowed.get(path);
    if (role === undefined) this.refuse(path);
    this.#state.values.push(Tag.CLASS, ROLES.indexOf(role), 0);
  }

  /** REDUCE or NEWOBJ: calls the class below the topmost value with the tuple that is on top. */
  call(opcode: number): void {
    const stack = this.#state.values;
    const from = this.#state.top(2);
    if (stack.tags[from] !== Tag.CLASS) {
      this.refuse(`a call by ${opcodeName(opcode)} of what is no class`);
    }
    if (stack.tags[from + 1] !== Tag.TUPLE) {
      this.#input.bad("the arguments of a call are no tuple");
    }
    const role = ROLES[stack.a[from]!]!;
    const args = stack.a[from + 1]!;
    stack.length = from;
    if (role === "dict") this.#makeDict(args);
    else if (role === "triple") this.#makeTriple(args);
    else if (role === "reconstructor") this.#reconstruct(args);
    else this.refuse("a call of tuple");
  }

  /** Throws the error about something that is never done. */
  refuse(what: string): never {
    const makers = [...this.#allowed].filter(([_, role]) =>
      role === "dict" || role === "triple"
    );
    const allowed = makers.map(([name]) => name).join(", ");
    throw new PickleError(
      "unsafe-pickle",
      this.#input.position,
      `refused to execute ${what}: only ${
        allowed || "no class at all"
      } may be used, without calling anything else`,
    );
  }

  #makeDict(args: number): void {
    const container = this.#state.containers.create();
    this.#state.values.push(Tag.DICT, container, 0);
    if (!this.#state.fillFromPairs(container, args)) {
      this.refuse("OrderedDict with other arguments than a list of pairs");
    }
  }

  #makeTriple(args: number): void {
    if (this.#rows(args).length !== 3) {
      this.refuse("a named tuple of other than three values");
    }
    this.#state.values.push(Tag.TUPLE, args, 0); // tuples never change
  }

  /** `_reconstructor(cls, tuple, values)`. */
  #reconstruct(args: number): void {
    const { tags, a } = this.#state.containers.items;
    const [cls, base, values, ...more] = this.#rows(args);
    const isRole = (row: number | undefined, role: ClassRole) =>
      row !== undefined && tags[row] === Tag.CLASS && ROLES[a[row]!] === role;
    const fits = isRole(cls, "triple") && isRole(base, "tuple") &&
      values !== undefined && tags[values] === Tag.TUPLE && more.length === 0;
    if (!fits) this.refuse("_reconstructor for other than a named tuple");
    this.#makeTriple(a[values]!);
  }

  /** The first few rows of a container, enough to tell how many a call may have. */
  #rows(container: number): number[] {
    const rows: number[] = [];
    this.#state.containers.forEachRun(container, (start, count) => {
      const end = start + Math.min(count, 4);
      for (let row = start; row < end && rows.length < 4; row++) rows.push(row);
    });
    return rows;
  }
}
