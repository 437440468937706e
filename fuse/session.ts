import type { Tree } from "../src/tree/tree.ts";
import type { ConnectionState } from "./connection_state.ts";
import { type Action, actionsFor } from "./dispatch.ts";
import { Errno } from "./errno.ts";
import { MAX_TRANSFER, REQUEST_BUFFER_SIZE } from "./limits.ts";
import { OnceLog } from "./once_log.ts";
import { type OpcodeInfo, OPCODES } from "./wire/opcodes.ts";
import { Reply } from "./wire/reply.ts";
import { MalformedRequest, Request } from "./wire/request.ts";
import type { ServedSources } from "./served_sources.ts";
import type { Ownership } from "./wire/structs.ts";

/** What a {@linkcode Session} needs besides its tree. */
export interface SessionOptions {
  readonly owner: Ownership;
  readonly connection: ConnectionState;
  /** The tree's sources. */
  readonly sources: ServedSources;
  /** Receives each distinct message about a request that failed, once. */
  readonly onLog: (message: string) => void;
}

/**
 * Answers the kernel's requests about a tree, without a kernel: request bytes in, reply bytes out.
 *
 * It keeps no state about the kernel's nodes or open files: ids are never reused, so nothing needs to
 * be remembered, and FORGET can be ignored.
 */
export class Session {
  /** Where the next request is to be put. */
  readonly request: Request = new Request(new Uint8Array(REQUEST_BUFFER_SIZE));
  /** The reply to the last one. */
  readonly reply: Reply = new Reply(MAX_TRANSFER);
  readonly #actions: readonly (Action | undefined)[];
  readonly #log: OnceLog;

  constructor(tree: Tree, options: SessionOptions) {
    this.#log = new OnceLog(options.onLog);
    this.#actions = actionsFor({ ...options, tree, log: this.#log });
  }

  /** Answers the request in the first `length` bytes of its buffer; never throws. */
  handle(length: number): void {
    const { request, reply } = this;
    if (!request.load(length)) return reply.none();
    const info = OPCODES[request.opcode];
    if (info?.replies === false) return reply.none();
    // The kernel takes a reply to request 0 for a notification.
    if (request.uniqueLow === 0 && request.uniqueHigh === 0) {
      return reply.none();
    }
    reply.begin(request.uniqueLow, request.uniqueHigh);
    this.#answer(info);
    reply.seal();
  }

  #answer(info: OpcodeInfo | undefined): void {
    const { request, reply } = this;
    const action = this.#actions[request.opcode] ?? Errno.ENOSYS;
    if (
      request.statedLength !== request.length ||
      request.bodySize < (info?.bodySize ?? 0)
    ) {
      reply.fail(Errno.EINVAL);
    } else if (typeof action === "number") {
      reply.fail(action);
    } else {
      try {
        action(request, reply);
      } catch (error) {
        reply.fail(this.#errnoOf(error));
      }
    }
  }

  #errnoOf(error: unknown): number {
    if (error instanceof MalformedRequest) return Errno.EINVAL;
    this.#log.log(error instanceof Error ? error.message : String(error));
    return Errno.EIO;
  }
}
