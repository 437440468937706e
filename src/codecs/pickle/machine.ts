import type { AllowedClasses } from "./class_roles.ts";
import {
  ByteReader,
  parseFloat64,
  parseInteger,
  parseQuoted,
  parseRawUnicode,
  parseTwosComplement,
} from "./byte_reader.ts";
import { type Containers, Tag, type ValueColumns } from "./columns.ts";
import { Op, opcodeName } from "./opcodes.ts";
import { PickleError } from "./pickle_error.ts";
import { PickleState } from "./state.ts";
import { decodePickledText } from "./text.ts";

/** Offsets in a pickle at which it can be extended. */
export interface PicklePlaces {
  /** Declared protocol; 0 if none. */
  protocol: number;
  readonly frames: number[];
  /** By list number: an offset after all its items at which the list is on top of the stack. */
  readonly lists: Map<number, number>;
  /** Offset of STOP, where the pickled value is on top of the stack. */
  stop: number;
}

/** Highest existing protocol (Python 3.8 and later). */
const HIGHEST_PROTOCOL = 5;

/** Limit of LONG1/LONG4 in bytes: the size of the 4300 digits that Python reads from text. */
const LONGEST_INTEGER = 1786;

/** Opcodes that create objects other than plain data. */
const OBJECTS: ReadonlySet<number> = new Set([
  Op.OBJ,
  Op.BUILD,
  Op.NEWOBJ_EX,
  Op.PERSID,
  Op.BINPERSID,
  Op.EXT1,
  Op.EXT2,
  Op.EXT4,
  Op.NEXT_BUFFER,
  Op.READONLY_BUFFER,
]);

/**
 * Interprets a pickle without executing any Python: values become rows of columns, without an object per value, and
 * only the classes in `allowed` can be called.
 *
 * The stack, the memo and the items of containers are column stores. A row holds a value's type and the offset of its
 * bytes in the pickle, so a structure of a million names creates no million strings.
 */
export class PickleMachine {
  readonly bytes: Uint8Array;
  readonly containers: Containers;
  /** Values that are not stored verbatim in the pickle: {@linkcode Tag.SIDE} rows hold their indices. */
  readonly side: (string | bigint | Uint8Array)[] = [];
  readonly #in: ByteReader;
  readonly #state: PickleState;
  readonly #stack: ValueColumns;
  readonly #places: PicklePlaces | undefined;

  /**
   * @param places Filled during the run.
   * @param most Limit of values, for each of the stack, the memo and the containers.
   */
  constructor(
    bytes: Uint8Array,
    allowed: AllowedClasses,
    places?: PicklePlaces,
    most = Infinity,
  ) {
    this.bytes = bytes;
    this.#places = places;
    this.#in = new ByteReader(bytes);
    this.#state = new PickleState(this.#in, allowed, most);
    this.#stack = this.#state.values;
    this.containers = this.#state.containers;
  }

  /**
   * Runs to STOP, and returns a store whose last row is the pickled value.
   *
   * @throws {PickleError} If the pickle is damaged or names a class that is not allowed.
   */
  run(): ValueColumns {
    const input = this.#in;
    const stack = this.#stack;
    for (;;) {
      const opcode = input.u8();
      switch (opcode) {
        // Opcodes of a dict of names first, for speed.
        case Op.SHORT_BINUNICODE:
          this.#pushBytes(Tag.TEXT, input.u8());
          break;
        case Op.MEMOIZE:
          this.#state.put(this.#state.memoized);
          break;
        case Op.BININT2:
          stack.push(Tag.INT, input.u16(), 0);
          break;
        case Op.BININT1:
          stack.push(Tag.INT, input.u8(), 0);
          break;
        case Op.BININT:
          stack.push(Tag.INT, input.i32(), 0);
          break;
        case Op.BINUNICODE:
          this.#pushBytes(Tag.TEXT, input.u32());
          break;
        case Op.BINPUT:
          this.#state.put(input.u8());
          break;
        case Op.LONG_BINPUT:
          this.#state.put(input.u32());
          break;
        case Op.MARK:
          if (!this.#state.setNumberedItems()) {
            this.#state.marks.push(stack.length);
          }
          break;
        case Op.SETITEMS:
          this.#state.setItems(this.#state.popMark());
          break;
        case Op.FRAME: {
          this.#places?.frames.push(input.position - 1);
          const size = input.u64();
          input.position = input.skip(size, "a frame"); // checks the size without skipping
          break;
        }
        case Op.PROTO: {
          const version = input.u8();
          if (version > HIGHEST_PROTOCOL) {
            this.#in.bad(`unsupported pickle protocol ${version}`);
          }
          if (this.#places !== undefined) this.#places.protocol = version;
          break;
        }
        case Op.STOP:
          this.#state.top(1);
          if (this.#places !== undefined) {
            this.#places.stop = input.position - 1;
          }
          return stack;
        default: {
          const run = PickleMachine.#RARE[opcode];
          if (run === undefined) this.#refuse(opcode);
          run(this);
          if (this.#places !== undefined) this.#noteList(this.#places);
        }
      }
    }
  }

  /** Handlers of less frequent opcodes. */
  static readonly #RARE: {
    readonly [opcode: number]: ((machine: PickleMachine) => void) | undefined;
  } = {
    [Op.BINGET]: (m) => m.#state.get(m.#in.u8()),
    [Op.LONG_BINGET]: (m) => m.#state.get(m.#in.u32()),
    [Op.SETITEM]: (m) => m.#state.setItems(m.#state.top(2)),
    [Op.EMPTY_TUPLE]: (m) => m.#state.pushEmptyTuple(),
    [Op.EMPTY_DICT]: (m) => m.#stack.push(Tag.DICT, m.containers.create(), 0),
    [Op.STACK_GLOBAL]: (m) => m.#stackGlobal(),
    [Op.GLOBAL]: (m) => m.#state.pushClass(m.#in.line(), m.#in.line()),
    [Op.REDUCE]: (m) => m.#state.call(Op.REDUCE),
    [Op.NEWOBJ]: (m) => m.#state.call(Op.NEWOBJ),
    [Op.NONE]: (m) => m.#stack.push(Tag.NONE, 0, 0),
    [Op.NEWTRUE]: (m) => m.#stack.push(Tag.BOOL, 1, 0),
    [Op.NEWFALSE]: (m) => m.#stack.push(Tag.BOOL, 0, 0),
    [Op.BINFLOAT]: (m) => m.#stack.push(Tag.FLOAT, m.#in.f64(), 0),
    [Op.FLOAT]: (m) => m.#pushFloatLine(m.#in.line()),
    [Op.INT]: (m) => m.#pushIntegerLine(Op.INT, m.#in.line()),
    [Op.LONG]: (m) => m.#pushIntegerLine(Op.LONG, m.#in.line()),
    [Op.LONG1]: (m) => m.#pushLong(m.#in.u8()),
    [Op.LONG4]: (m) => m.#pushLong(m.#in.i32()),
    [Op.BINUNICODE8]: (m) => m.#pushBytes(Tag.TEXT, m.#in.u64()),
    [Op.UNICODE]: (m) => m.#pushText(Op.UNICODE, parseRawUnicode(m.#in.line())),
    [Op.STRING]: (m) => m.#pushText(Op.STRING, parseQuoted(m.#in.line()), true),
    [Op.SHORT_BINSTRING]: (m) => m.#pushBytes(Tag.TEXT, m.#in.u8(), true),
    [Op.BINSTRING]: (m) => m.#pushBytes(Tag.TEXT, m.#in.u32(), true),
    [Op.SHORT_BINBYTES]: (m) => m.#pushBytes(Tag.BYTES, m.#in.u8()),
    [Op.BINBYTES]: (m) => m.#pushBytes(Tag.BYTES, m.#in.u32()),
    [Op.BINBYTES8]: (m) => m.#pushBytes(Tag.BYTES, m.#in.u64()),
    [Op.BYTEARRAY8]: (m) => m.#pushBytes(Tag.BYTES, m.#in.u64()),
    [Op.EMPTY_LIST]: (m) => m.#stack.push(Tag.LIST, m.containers.create(), 0),
    [Op.EMPTY_SET]: (m) => m.#stack.push(Tag.SET, m.containers.create(), 0),
    [Op.TUPLE]: (m) => m.#state.gather(Tag.TUPLE, m.#state.popMark()),
    [Op.TUPLE1]: (m) => m.#state.gather(Tag.TUPLE, m.#state.top(1)),
    [Op.TUPLE2]: (m) => m.#state.gather(Tag.TUPLE, m.#state.top(2)),
    [Op.TUPLE3]: (m) => m.#state.gather(Tag.TUPLE, m.#state.top(3)),
    [Op.LIST]: (m) => m.#state.gather(Tag.LIST, m.#state.popMark()),
    [Op.FROZENSET]: (m) => m.#state.gather(Tag.SET, m.#state.popMark()),
    [Op.DICT]: (m) => {
      const from = m.#state.popMark();
      if ((m.#stack.length - from) % 2 !== 0) m.#in.bad("odd number of items");
      m.#state.gather(Tag.DICT, from);
    },
    [Op.APPEND]: (m) => m.#state.extend(Tag.LIST, m.#state.top(1)),
    [Op.APPENDS]: (m) => m.#state.extend(Tag.LIST, m.#state.popMark()),
    [Op.ADDITEMS]: (m) => m.#state.extend(Tag.SET, m.#state.popMark()),
    [Op.GET]: (m) => m.#state.get(m.#memoKey(m.#in.line())),
    [Op.PUT]: (m) => m.#state.put(m.#memoKey(m.#in.line())),
    [Op.DUP]: (m) => m.#stack.pushFrom(m.#stack, m.#state.top(1)),
    [Op.POP]: (m) => {
      // As in Python, pops the mark if it is on top.
      if (m.#state.marks.last === m.#stack.length) m.#state.marks.pop();
      else m.#stack.length = m.#state.top(1);
    },
    [Op.POP_MARK]: (m) => void (m.#stack.length = m.#state.popMark()),
    [Op.INST]: (m) => m.#state.refuse(`${m.#in.line()}.${m.#in.line()}`),
  };

  text({ tags, a, b }: ValueColumns, row: number): string | undefined {
    const start = a[row]!;
    if (tags[row] === Tag.TEXT) {
      return decodePickledText(this.bytes, start, start + b[row]!);
    }
    const side = tags[row] === Tag.SIDE ? this.side[start] : undefined;
    return typeof side === "string" ? side : undefined;
  }

  /** Throws an error about a valid pickle with invalid content. */
  fail(message: string): never {
    throw new PickleError("bad-pickle", this.bytes.length, message);
  }

  #refuse(opcode: number): never {
    const name = opcodeName(opcode);
    if (OBJECTS.has(opcode)) this.#state.refuse(`an object by ${name}`);
    this.#in.bad(`it is not a pickle: ${name} is not an opcode`);
  }

  /** Records the offset if a list is on top of the stack, so that items can be appended there. */
  #noteList({ lists }: PicklePlaces): void {
    const top = this.#stack.length - 1;
    if (top < 0 || this.#stack.tags[top] !== Tag.LIST) return;
    lists.set(this.#stack.a[top]!, this.#in.position);
  }

  #pushBytes(tag: number, length: number, ascii = false): void {
    const start = this.#in.skip(length, "a string");
    if (length >= 2 ** 32) this.#in.bad(`a string of ${length} bytes`);
    if (ascii) {
      for (let i = start; i < start + length; i++) {
        if (this.bytes[i]! >= 0x80) {
          this.#in.bad("a Python 2 string is not ASCII");
        }
      }
    }
    this.#stack.push(tag, start, length);
  }

  #pushText(opcode: number, text: string | undefined, ascii = false): void {
    // deno-lint-ignore no-control-regex -- exactly the ASCII range
    if (text === undefined || ascii && !/^[\x00-\x7f]*$/.test(text)) {
      this.#in.bad(`${opcodeName(opcode)} is not a valid string`);
    }
    this.#stack.push(Tag.SIDE, this.side.push(text) - 1, 0);
  }

  #pushFloatLine(line: string): void {
    const number = parseFloat64(line);
    if (number === undefined) this.#in.bad("FLOAT is not a number");
    this.#stack.push(Tag.FLOAT, number, 0);
  }

  #pushInteger(number: number | bigint): void {
    if (typeof number === "number") this.#stack.push(Tag.INT, number, 0);
    else this.#stack.push(Tag.SIDE, this.side.push(number) - 1, 0);
  }

  #pushIntegerLine(opcode: number, line: string): void {
    // Protocols 0 and 1 write booleans as these two integers.
    if (opcode === Op.INT && (line === "00" || line === "01")) {
      return this.#stack.push(Tag.BOOL, Number(line), 0);
    }
    const number = parseInteger(
      opcode === Op.LONG ? line.replace(/L$/, "") : line,
    );
    if (number === undefined) {
      this.#in.bad(`${opcodeName(opcode)} is not an integer`);
    }
    this.#pushInteger(number);
  }

  #pushLong(length: number): void {
    if (length < 0 || length > LONGEST_INTEGER) {
      this.#in.bad(`an integer of ${length} bytes`);
    }
    const start = this.#in.skip(length, "an integer");
    this.#pushInteger(
      parseTwosComplement(this.bytes.subarray(start, start + length)),
    );
  }

  #memoKey(line: string): number {
    if (!/^\d{1,15}$/.test(line)) this.#in.bad("a memo key is not a number");
    return Number(line);
  }

  #stackGlobal(): void {
    const from = this.#state.top(2);
    const [module, name] = [from, from + 1]
      .map((row) => this.text(this.#stack, row));
    if (module === undefined || name === undefined) {
      this.#in.bad("the name of a class is not a string");
    }
    this.#stack.length = from;
    this.#state.pushClass(module, name);
  }
}
