/** Generates requests that no kernel sends. */
import { Opcode, OPCODES } from "../../../fuse/wire/opcodes.ts";
import { type Body, encodeRequest, readBody } from "./requests.ts";

/** Limits of 32-bit and 64-bit integers, doubles and pages. */
const NUMBERS = [
  ...[0n, 1n, 2n, 3n, 7n, 15n, 16n, 40n, 104n, 128n, 255n, 4095n, 4096n, 4097n],
  ...[31n, 32n, 53n, 63n, 64n].flatMap((bits) => [
    2n ** bits - 2n,
    2n ** bits - 1n,
    2n ** bits,
    2n ** bits + 1n,
  ]),
  ...[1n << 16n, (1n << 20n) - 1n, 1n << 20n, (1n << 20n) + 1n],
].map((number) => BigInt.asUintN(64, number));

/** Names with a special meaning, or almost. */
const NAMES = [
  ...["", ".", "..", "...", "/", "a/b", "a\0b", "%2F", "%", "~", "\u{1f642}"],
  ...["0", "000000", "000001", "000042", "0000000", "00000a", "-00001"],
  ...["frame_0001.jpg", "frame_0000.jpg", "frame_99999999999999999999.jpg"],
  ...["meta.json", "label2idx.json", "spec.json", "000000.jpg", "a.json"],
  ...[255, 256, 1024, 1025, 60_000].map((length) => "n".repeat(length)),
];

const OPCODES_KNOWN: readonly number[] = Object.values(Opcode);
const OPCODES_UNKNOWN = [0, 7, 19, 53, 63, 64, 4096, 2 ** 31, 2 ** 32 - 1];

/** Maximum size of a request in bytes: the size of the server's buffer. */
const LARGEST = 1 << 16;

/**
 * Generates requests of every kind. They are valid at first, and then mutated: truncated, extended, with a wrong
 * length, flipped bits, or unknown nodes. The same seed gives the same requests.
 */
export class RequestFuzzer {
  readonly #names: readonly string[];
  readonly #nodes: number;
  #state: number;

  /**
   * @param nodes Number of nodes of the tree.
   * @param names Some names of its entries.
   */
  constructor(seed: number, nodes: number, names: readonly string[]) {
    this.#state = seed;
    this.#nodes = nodes;
    this.#names = names;
  }

  /** Returns the next request. */
  next(): Uint8Array {
    if (this.#below(50) === 0) return this.#bytes(this.#below(200));
    const opcode = this.#below(20) === 0
      ? this.#of(OPCODES_UNKNOWN)
      : this.#of(OPCODES_KNOWN);
    const request = encodeRequest(
      opcode,
      this.#node(),
      this.#body(opcode),
      this.#below(20) === 0 ? this.#number() : BigInt(this.#below(2 ** 32)),
    );
    return this.#changed(request.subarray(0, LARGEST));
  }

  /** Returns an integer from 0 to `limit - 1`, by the generator mulberry32. */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor(((t ^ (t >>> 14)) >>> 0) / 2 ** 32 * limit);
  }

  #of<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!;
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#below(256));
  }

  #number(): bigint {
    return this.#below(4) === 0
      ? BigInt(this.#below(2 ** 32)) << BigInt(this.#below(33))
      : this.#of(NUMBERS);
  }

  #word(): number {
    return Number(BigInt.asUintN(32, this.#number()));
  }

  #node(): bigint {
    return this.#below(5) === 0
      ? this.#number()
      : BigInt(1 + this.#below(this.#nodes + 1));
  }

  #name(): string | Uint8Array {
    switch (this.#below(8)) {
      case 0:
        return this.#bytes(this.#below(300));
      case 1:
        return this.#of(this.#names).slice(this.#below(2));
      case 2:
      case 3:
        return this.#of(NAMES);
      default:
        return this.#of(this.#names);
    }
  }

  /** Returns a body that is mostly valid in size and order of its fields. */
  #body(opcode: number): Body {
    switch (opcode) {
      case Opcode.LOOKUP:
      case Opcode.UNLINK:
      case Opcode.RMDIR:
      case Opcode.REMOVEXATTR:
        return [this.#name()];
      case Opcode.GETATTR:
        return [this.#below(2), 0, this.#number()];
      case Opcode.READ:
      case Opcode.READDIR:
      case Opcode.READDIRPLUS:
        return this.#below(2) === 0
          ? readBody(this.#below(20), this.#of([24, 200, 4096, 1 << 15]))
          : readBody(this.#number(), this.#word());
      case Opcode.OPEN:
      case Opcode.OPENDIR:
        return [this.#word(), 0];
      case Opcode.INIT:
        return [
          ...[this.#of([7, 7, 7, 6, 8]), this.#of([38, 45, 22, 12, 11, 0])],
          ...[this.#word(), this.#word(), this.#word()],
          ...new Array<number>(11).fill(0),
        ];
      case Opcode.FORGET:
      case Opcode.INTERRUPT:
        return [this.#number()];
      case Opcode.BATCH_FORGET:
        return [this.#word(), 0, this.#node(), 1n, this.#node(), 1n];
      case Opcode.SYMLINK:
      case Opcode.RENAME:
        return [this.#number(), this.#name(), this.#name()];
      case Opcode.GETXATTR:
      case Opcode.SETXATTR:
        return [this.#word(), 0, this.#name(), this.#bytes(this.#below(40))];
      case Opcode.WRITE:
        return [0n, this.#number(), this.#word(), 0, 0n, 0, 0, this.#bytes(99)];
      default:
        return [this.#bytes(OPCODES[opcode]?.bodySize ?? this.#below(120))];
    }
  }

  #changed(sound: Uint8Array): Uint8Array {
    let request = sound;
    for (let changes = this.#below(4); changes > 0; changes--) {
      switch (this.#below(6)) {
        case 0: // truncated or extended, with or without the right length in the header
          request = request.slice(0, this.#below(request.length + 1));
          if (this.#below(2) === 0) this.#stateLength(request);
          break;
        case 1: {
          const more = this.#bytes(this.#below(64));
          request = new Uint8Array([...request, ...more]).subarray(0, LARGEST);
          if (this.#below(2) === 0) this.#stateLength(request);
          break;
        }
        case 2:
          if (request.length >= 4) this.#put(request, 0, this.#number(), 4);
          break;
        case 3:
          if (request.length >= 24) this.#put(request, 16, this.#number(), 8);
          break;
        default: // a flipped bit
          if (request.length === 0) break;
          request[this.#below(request.length)]! ^= 1 << this.#below(8);
      }
    }
    return request;
  }

  #stateLength(request: Uint8Array): void {
    if (request.length < 4) return;
    this.#put(request, 0, BigInt(request.length), 4);
  }

  #put(request: Uint8Array, at: number, value: bigint, bytes: number): void {
    for (let i = 0; i < bytes; i++) {
      request[at + i] = Number(value >> BigInt(8 * i) & 0xffn);
    }
  }
}
