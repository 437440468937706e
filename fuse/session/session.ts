import { FormatError } from "../../src/base/errors.ts";
import type { MessageListener } from "../../src/base/named_option.ts";
import { runAsync } from "../../src/io/concurrency/steps.ts";
import { NotLoaded } from "../../src/tree/not_loaded.ts";
import type { Tree } from "../../src/tree/tree.ts";
import type { ConnectionState } from "../server/connection_state.ts";
import { type Action, actionsFor } from "./dispatch.ts";
import { Errno } from "../wire/errno.ts";
import { MAX_TRANSFER, REQUEST_BUFFER_SIZE } from "../limits.ts";
import { OnceLog } from "./once_log.ts";
import type { Delegation } from "../fetching/delegation.ts";
import { ListAhead, type ListAheadMemory } from "./list_ahead.ts";
import { Opcode, type OpcodeInfo, OPCODES } from "../wire/opcodes.ts";
import { Reply, REPLY_HEADER_SIZE } from "../wire/reply.ts";
import { MalformedRequest, Request } from "../wire/request.ts";
import { SampleChecks } from "../checksums/sample_checks.ts";
import type { SampleChecksMemory } from "../checksums/sample_checks_memory.ts";
import type { ServedSources } from "../content/served_sources.ts";
import type { Ownership } from "../wire/node_structs.ts";

export interface SessionOptions {
  readonly owner: Ownership;
  readonly connection: ConnectionState;
  readonly listAhead: ListAheadMemory;
  readonly sources: ServedSources;
  /** Shared memory for verifying checksums, if enabled. */
  readonly checks?: SampleChecksMemory | undefined;
  /** Delegates reads to the fetch thread, if the tree has remote sources. */
  readonly delegation?: Delegation | undefined;
  /** Whether the caller awaits {@linkcode Session.load}. Otherwise requests that must wait fail. */
  readonly canLoad?: boolean | undefined;
  /** Called once for each distinct message about a failed request. */
  readonly onLog: MessageListener;
}

/** Parts that one request may load: a container in each of eight others, and parts of their indexes. */
const MOST_LOADS = 64;

/**
 * Answers the kernel's requests about a tree, independent of a kernel: request bytes in, reply bytes out.
 *
 * Keeps no state about the kernel's nodes or open files: ids are never reused, so nothing needs to be remembered,
 * and FORGET can be ignored.
 */
export class Session {
  readonly request: Request = new Request(new Uint8Array(REQUEST_BUFFER_SIZE));
  /** Reply to the last request. */
  reply: Reply;
  /** Reply for everything except pages listed ahead. */
  readonly #ownReply = new Reply(
    new Uint8Array(REPLY_HEADER_SIZE + MAX_TRANSFER),
  );
  readonly #ahead: ListAhead;
  readonly #checks: SampleChecks | undefined;
  readonly #actions: readonly (Action | undefined)[];
  readonly #log: OnceLog;
  readonly #canLoad: boolean;
  /** What the last request needs before it can be answered. */
  #missing: NotLoaded | undefined;

  constructor(tree: Tree, options: SessionOptions) {
    this.reply = this.#ownReply;
    this.#log = new OnceLog(options.onLog);
    const { sources, checks, delegation, canLoad = false } = options;
    this.#canLoad = canLoad;
    this.#checks = checks &&
      new SampleChecks(tree, sources, checks, this.#ownReply);
    this.#actions = actionsFor({
      ...options,
      tree,
      log: this.#log,
      checks: this.#checks,
      delegation,
    });
    this.#ahead = new ListAhead(
      tree,
      options.listAhead,
      (request, page) =>
        this.#act(this.#actions[request.opcode]!, request, page),
    );
  }

  /** Answers the request in the first `length` bytes of the buffer. Never throws. */
  handle(length: number): void {
    const { request } = this;
    const reply = this.reply = this.#ownReply;
    if (!request.load(length)) return reply.none();
    const info = OPCODES[request.opcode];
    if (info?.replies === false) return reply.none();
    // The kernel would take a reply to request 0 for a notification.
    if (request.uniqueLow === 0 && request.uniqueHigh === 0) {
      return reply.none();
    }
    reply.begin(request.uniqueLow, request.uniqueHigh);
    this.#answer(info);
  }

  /** Whether the last request must wait for {@linkcode load}, because what it needs cannot be read synchronously. */
  get needsLoading(): boolean {
    return this.#missing !== undefined;
  }

  /** Loads what the last request needs, and answers it. Never rejects. */
  async load(): Promise<void> {
    const { request, reply } = this;
    for (let loads = 1; this.#missing !== undefined; loads++) {
      const missing = this.#missing;
      this.#missing = undefined;
      let failure: unknown;
      try {
        if (loads > MOST_LOADS) throw missing;
        await runAsync(missing.load());
      } catch (error) {
        failure = error;
      }
      reply.begin(request.uniqueLow, request.uniqueHigh);
      if (failure === undefined) this.#answer(OPCODES[request.opcode]);
      else {
        reply.fail(this.#errnoOf(failure));
        reply.seal();
      }
    }
  }

  /**
   * Lists ahead after a reply was sent, so that the next page is ready when it is requested. Must be called between
   * requests. Never throws.
   */
  prepareNext(): void {
    const { request, reply } = this;
    const { resume } = reply; // once freed, the page belongs to another thread
    const wasReady = reply !== this.#ownReply;
    if (wasReady) this.#ahead.free(reply);
    else if (
      reply.length === 0 || reply.errno !== 0 || !isListing(request.opcode)
    ) return;
    this.#ahead.follow(request, resume, wasReady);
  }

  /** Whether requests wait for {@linkcode checkOn}. */
  get isChecking(): boolean {
    return this.#checks?.large.isBusy === true;
  }

  /** Whether {@linkcode checkOn} can only wait for other threads. */
  get waitsForOthers(): boolean {
    return this.#checks?.large.isIdle === true;
  }

  /** Continues pending checks for a short while. Never throws. */
  checkOn(): void {
    try {
      this.#checks?.large.work();
    } catch (error) {
      this.#errnoOf(error);
    }
  }

  /** Writes the reply to a waiting request that is ready, if any. Must be called between requests. */
  answerWaiting(): boolean {
    this.reply = this.#ownReply;
    return this.#checks?.large.takeAnswer(this.reply) === true;
  }

  /** Ends the session: other threads take over its shared work. */
  end(): void {
    this.#ahead.resign();
    this.#checks?.large.close();
  }

  #answer(info: OpcodeInfo | undefined): void {
    const { request, reply } = this;
    if (
      request.statedLength !== request.length ||
      request.bodySize < (info?.bodySize ?? 0)
    ) {
      reply.fail(Errno.EINVAL);
      reply.seal();
      return;
    }
    const page = this.#takePage();
    if (page !== undefined) this.reply = page;
    else {
      const action = this.#actions[request.opcode] ?? Errno.ENOSYS;
      this.#act(action, request, reply);
    }
  }

  #takePage(): Reply | undefined {
    const { request } = this;
    if (!isListing(request.opcode)) return undefined;
    try {
      return this.#ahead.take(request);
    } catch {
      return undefined; // malformed; the handler reports it
    }
  }

  #act(action: Action, request: Request, reply: Reply): void {
    if (typeof action === "number") {
      reply.fail(action);
    } else {
      try {
        action(request, reply);
      } catch (error) {
        const waits = this.#canLoad && error instanceof NotLoaded;
        if (waits && reply === this.#ownReply) {
          this.#missing = error;
          return reply.none();
        }
        reply.fail(this.#errnoOf(error));
      }
    }
    if (reply.length > 0) reply.seal();
  }

  #errnoOf(error: unknown): number {
    if (error instanceof MalformedRequest) return Errno.EINVAL;
    this.#log.error(error);
    return error instanceof FormatError && error.code === "unreadable-member"
      ? Errno.EOPNOTSUPP
      : Errno.EIO;
  }
}

function isListing(opcode: number): boolean {
  return opcode === Opcode.READDIR || opcode === Opcode.READDIRPLUS;
}
