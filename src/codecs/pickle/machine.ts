import { type AllowedClasses, ClassCalls } from "./class_calls.ts";
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

/** Where a pickle can be added to, in bytes from its start. */
export interface PicklePlaces {
  /** The protocol it says it is of; 0 without. */
  protocol: number;
  /** Where the opcodes FRAME stand. */
  readonly frames: number[];
  /** By the numbers of lists: behind the opcode that added to one last, or made it. It is on top of the stack there. */
  readonly lists: Map<number, number>;
  /** Where STOP stands; the pickled value is on top of the stack there. */
  stop: number;
}

/** Highest protocol there is (Python 3.8 and later). */
const HIGHEST_PROTOCOL = 5;

/** Longest LONG1/LONG4 in bytes: as many as the 4300 digits that Python reads from text. */
const LONGEST_INTEGER = 1786;

/**
 * Runs a pickle without running anything else: values become rows of columns, no object is made
 * per value, and the only classes that can be called are those that `allowed` names.
 *
 * The stack, the memo and the items of containers are column stores. A row says what the value is
 * and where its bytes are in the pickle, so a structure of a million names costs no million strings.
 */
export class PickleMachine {
  readonly bytes: Uint8Array;
  readonly containers: Containers;
  /** Values that do not lie in the pickle as they are: {@linkcode Tag.SIDE} rows point here. */
  readonly side: (string | bigint | Uint8Array)[] = [];
  readonly #calls: ClassCalls;
  readonly #in: ByteReader;
  readonly #state: PickleState;
  readonly #stack: ValueColumns;
  readonly #places: PicklePlaces | undefined;

  /** @param places Filled while the pickle runs. */
  constructor(
    bytes: Uint8Array,
    allowed: AllowedClasses,
    places?: PicklePlaces,
  ) {
    this.bytes = bytes;
    this.#places = places;
    this.#in = new ByteReader(bytes);
    this.#state = new PickleState(this.#in);
    this.#stack = this.#state.values;
    this.containers = this.#state.containers;
    this.#calls = new ClassCalls(this.#in, this.#state, allowed);
  }

  /**
   * Runs to STOP.
   *
   * @returns A store whose last row is the pickled value.
   * @throws {PickleError} If the pickle is damaged or asks for a class that is not allowed.
   */
  run(): ValueColumns {
    const input = this.#in;
    const stack = this.#stack;
    for (;;) {
      const opcode = input.u8();
      switch (opcode) {
        // The opcodes that a dict of names is made of come first.
        case Op.SHORT_BINUNICODE:
          if (!this.#pushNumberedNames()) this.#pushBytes(Tag.TEXT, input.u8());
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
        case Op.BINGET:
          this.#state.get(input.u8());
          break;
        case Op.LONG_BINGET:
          this.#state.get(input.u32());
          break;
        case Op.MARK:
          if (!this.#state.setNumberedItems()) {
            this.#state.marks.push(stack.length);
          }
          break;
        case Op.SETITEMS:
          this.#state.setItems(this.#state.popMark());
          break;
        case Op.SETITEM:
          this.#state.setItems(this.#state.top(2));
          break;
        case Op.EMPTY_TUPLE:
          this.#state.pushEmptyTuple();
          break;
        case Op.EMPTY_DICT:
          stack.push(Tag.DICT, this.containers.create(), 0);
          break;
        case Op.STACK_GLOBAL:
          this.#stackGlobal();
          break;
        case Op.GLOBAL:
          this.#calls.pushClass(input.line(), input.line());
          break;
        case Op.REDUCE:
        case Op.NEWOBJ:
          this.#calls.call(opcode);
          break;
        case Op.FRAME: {
          this.#places?.frames.push(input.position - 1);
          const size = input.u64();
          input.position = input.skip(size, "a frame"); // only looked at
          break;
        }
        case Op.PROTO: {
          const version = input.u8();
          if (version > HIGHEST_PROTOCOL) {
            this.#bad(`unsupported pickle protocol ${version}`);
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
        default:
          this.#runRare(opcode);
      }
    }
  }

  /**
   * Runs the items of a folder of files, `SHORT_BINUNICODE name, MEMOIZE, BININT index` again and
   * again, whose first opcode has just been read. A small loop of its own is compiled long before
   * the large one, and 200,000 names come only once in a process.
   *
   * @returns Whether there was any; if not, nothing has happened.
   */
  #pushNumberedNames(): boolean {
    const input = this.#in;
    const bytes = this.bytes;
    const stack = this.#stack;
    const memo = this.#state.memo;
    if (memo.length !== this.#state.memoized) return false; // by PUT, with gaps
    const started = input.position;
    let at = started; // behind SHORT_BINUNICODE
    for (;;) {
      const length = bytes[at]!;
      const behind = at + 1 + length;
      if (bytes[behind] !== Op.MEMOIZE) break;
      const opcode = bytes[behind + 1];
      const width = opcode === Op.BININT2
        ? 2
        : opcode === Op.BININT1
        ? 1
        : opcode === Op.BININT
        ? 4
        : 0;
      if (width === 0) break;
      const end = behind + 2 + width;
      if (end > bytes.length) break; // the slow way says what is missing
      // One expression for all widths: a path first taken at name 65,536 would undo the compiled code.
      let index = 0;
      for (let k = end - 1; k > behind + 1; k--) index = index << 8 | bytes[k]!;
      stack.push(Tag.TEXT, at + 1, length);
      memo.push(Tag.TEXT, at + 1, length);
      stack.push(Tag.INT, index, 0);
      input.position = end;
      if (bytes[end] !== Op.SHORT_BINUNICODE) break;
      at = end + 1;
    }
    this.#state.memoized = memo.length;
    return input.position !== started;
  }

  #runRare(opcode: number): void {
    const input = this.#in;
    const stack = this.#stack;
    switch (opcode) {
      case Op.NONE:
        return stack.push(Tag.NONE, 0, 0);
      case Op.NEWTRUE:
        return stack.push(Tag.BOOL, 1, 0);
      case Op.NEWFALSE:
        return stack.push(Tag.BOOL, 0, 0);
      case Op.BINFLOAT:
        return stack.push(Tag.FLOAT, input.f64(), 0);
      case Op.FLOAT: {
        const number = parseFloat64(input.line());
        if (number === undefined) this.#bad("FLOAT is not a number");
        return stack.push(Tag.FLOAT, number, 0);
      }
      case Op.INT:
      case Op.LONG:
        return this.#pushIntegerLine(opcode, input.line());
      case Op.LONG1:
        return this.#pushLong(input.u8());
      case Op.LONG4:
        return this.#pushLong(input.i32());
      case Op.BINUNICODE8:
        return this.#pushBytes(Tag.TEXT, input.u64());
      case Op.UNICODE:
        return this.#pushText(parseRawUnicode(input.line()), opcode);
      case Op.STRING:
        return this.#pushText(parseQuoted(input.line()), opcode, true);
      case Op.SHORT_BINSTRING:
        return this.#pushBytes(Tag.TEXT, input.u8(), true);
      case Op.BINSTRING:
        return this.#pushBytes(Tag.TEXT, input.u32(), true);
      case Op.SHORT_BINBYTES:
        return this.#pushBytes(Tag.BYTES, input.u8());
      case Op.BINBYTES:
        return this.#pushBytes(Tag.BYTES, input.u32());
      case Op.BINBYTES8:
      case Op.BYTEARRAY8:
        return this.#pushBytes(Tag.BYTES, input.u64());
      case Op.EMPTY_LIST:
        stack.push(Tag.LIST, this.containers.create(), 0);
        return this.#noteList();
      case Op.EMPTY_SET:
        return stack.push(Tag.SET, this.containers.create(), 0);
      case Op.TUPLE:
        return this.#state.gather(Tag.TUPLE, this.#state.popMark());
      case Op.TUPLE1:
        return this.#state.gather(Tag.TUPLE, this.#state.top(1));
      case Op.TUPLE2:
        return this.#state.gather(Tag.TUPLE, this.#state.top(2));
      case Op.TUPLE3:
        return this.#state.gather(Tag.TUPLE, this.#state.top(3));
      case Op.LIST:
        this.#state.gather(Tag.LIST, this.#state.popMark());
        return this.#noteList();
      case Op.FROZENSET:
        return this.#state.gather(Tag.SET, this.#state.popMark());
      case Op.DICT: {
        const from = this.#state.popMark();
        if ((stack.length - from) % 2 !== 0) this.#bad("odd number of items");
        return this.#state.gather(Tag.DICT, from);
      }
      case Op.APPEND:
        this.#state.extend(Tag.LIST, this.#state.top(1));
        return this.#noteList();
      case Op.APPENDS:
        this.#state.extend(Tag.LIST, this.#state.popMark());
        return this.#noteList();
      case Op.ADDITEMS:
        return this.#state.extend(Tag.SET, this.#state.popMark());
      case Op.GET:
        return this.#state.get(this.#memoKey(input.line()));
      case Op.PUT:
        return this.#state.put(this.#memoKey(input.line()));
      case Op.DUP:
        return stack.pushFrom(stack, this.#state.top(1));
      case Op.POP: {
        // Like Python: on top of a mark, it is the mark that goes.
        if (this.#state.marks.last === stack.length) this.#state.marks.pop();
        else stack.length = this.#state.top(1);
        return;
      }
      case Op.POP_MARK: {
        stack.length = this.#state.popMark();
        return;
      }
      case Op.INST:
        return this.#calls.refuse(`${input.line()}.${input.line()}`);
      case Op.OBJ:
      case Op.BUILD:
      case Op.NEWOBJ_EX:
      case Op.PERSID:
      case Op.BINPERSID:
      case Op.EXT1:
      case Op.EXT2:
      case Op.EXT4:
      case Op.NEXT_BUFFER:
      case Op.READONLY_BUFFER:
        return this.#calls.refuse(`an object by ${opcodeName(opcode)}`);
      default:
        this.#bad(`it is not a pickle: ${opcodeName(opcode)} is no opcode`);
    }
  }

  /** Notes where the list on top of the stack was added to. */
  #noteList(): void {
    const { length, a } = this.#stack;
    this.#places?.lists.set(a[length - 1]!, this.#in.position);
  }

  #pushBytes(tag: number, length: number, ascii = false): void {
    const start = this.#in.skip(length, "a string");
    if (length >= 2 ** 32) this.#bad(`a string of ${length} bytes`);
    if (ascii) {
      for (let i = start; i < start + length; i++) {
        if (this.bytes[i]! >= 0x80) {
          this.#bad("a Python 2 string is not ASCII");
        }
      }
    }
    this.#stack.push(tag, start, length);
  }

  #pushText(text: string | undefined, opcode: number, ascii = false): void {
    // deno-lint-ignore no-control-regex -- exactly the ASCII range
    if (text === undefined || ascii && !/^[\x00-\x7f]*$/.test(text)) {
      this.#bad(`${opcodeName(opcode)} is not a valid string`);
    }
    this.#stack.push(Tag.SIDE, this.side.push(text) - 1, 0);
  }

  #pushInteger(number: number | bigint): void {
    if (typeof number === "number") this.#stack.push(Tag.INT, number, 0);
    else this.#stack.push(Tag.SIDE, this.side.push(number) - 1, 0);
  }

  #pushIntegerLine(opcode: number, line: string): void {
    // Protocol 0 and 1 write booleans as these two integers.
    if (opcode === Op.INT && (line === "00" || line === "01")) {
      return this.#stack.push(Tag.BOOL, Number(line), 0);
    }
    const number = parseInteger(
      opcode === Op.LONG ? line.replace(/L$/, "") : line,
    );
    if (number === undefined) {
      this.#bad(`${opcodeName(opcode)} is not an integer`);
    }
    this.#pushInteger(number);
  }

  #pushLong(length: number): void {
    if (length < 0 || length > LONGEST_INTEGER) {
      this.#bad(`an integer of ${length} bytes`);
    }
    const start = this.#in.skip(length, "an integer");
    this.#pushInteger(
      parseTwosComplement(this.bytes.subarray(start, start + length)),
    );
  }

  #memoKey(line: string): number {
    if (!/^\d{1,15}$/.test(line)) this.#bad("a memo key is not a number");
    return Number(line);
  }

  #stackGlobal(): void {
    const from = this.#state.top(2);
    const module = this.#textAt(from);
    const name = this.#textAt(from + 1);
    this.#stack.length = from;
    this.#calls.pushClass(module, name);
  }

  #textAt(row: number): string {
    const { tags, a, b } = this.#stack;
    if (tags[row] === Tag.TEXT) {
      const start = a[row]!;
      return new TextDecoder().decode(
        this.bytes.slice(start, start + b[row]!),
      );
    }
    const side = tags[row] === Tag.SIDE ? this.side[a[row]!] : undefined;
    if (typeof side !== "string") this.#bad("the name of a class is no string");
    return side;
  }

  #bad(message: string): never {
    throw new PickleError("bad-pickle", this.#in.position, message);
  }
}
