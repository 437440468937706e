import assert from "node:assert/strict";
import { ConnectionState } from "../../../fuse/server/connection_state.ts";
import {
  type ListAheadMemory,
  newListAheadMemory,
} from "../../../fuse/session/list_ahead.ts";
import type { MappedSource } from "../../../fuse/content/mapping.ts";
import type { SampleChecksMemory } from "../../../fuse/checksums/sample_checks_memory.ts";
import { ListedSources } from "../../../fuse/content/served_sources.ts";
import { Session } from "../../../fuse/session/session.ts";
import { traceLine } from "../../../fuse/session/trace.ts";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { areOpen, type Tree } from "../../../src/tree/tree.ts";
import { type Body, encodeRequest, initBody } from "./requests.ts";

/** A parsed reply. */
export interface Answer {
  /** Positive errno, 0 for success. */
  readonly errno: number;
  readonly unique: bigint;
  /** Body without the header. */
  readonly body: DataView;
  /** Source, offset and length of the payload after the body, if any. */
  readonly payload: readonly [number, number, number] | undefined;
}

/** Options of a client: owner and umask of the nodes, and shared state. */
export interface ClientOptions {
  readonly uid?: number;
  readonly gid?: number;
  readonly umask?: number;
  /** State shared with other clients, which act as further threads of the mount. */
  readonly listAhead?: ListAheadMemory;
  /** Shared state of checks; without it, checksums are not compared. */
  readonly checks?: SampleChecksMemory;
  /** Whether requests wait for what they need. */
  readonly canLoad?: boolean;
  /** Mapped sources of the tree's content, if a test needs the bytes. */
  readonly sources?: readonly MappedSource[];
}

/** Acts as the kernel towards a {@linkcode Session}. */
export class Client {
  readonly session: Session;
  readonly connection = new ConnectionState();
  /** Logged messages. */
  readonly logs: string[] = [];

  constructor(
    tree: Tree,
    {
      uid = 11,
      gid = 22,
      umask = 0,
      listAhead = newListAheadMemory(),
      checks,
      canLoad,
      sources = areOpen(tree.sources)
        ? tree.sources.map(({ name, size }) => ({ name, size, address: 0 }))
        : [],
    }: ClientOptions = {},
  ) {
    this.session = new Session(tree, {
      owner: { uid, gid, umask },
      connection: this.connection,
      listAhead,
      checks,
      canLoad,
      sources: new ListedSources(sources, {
        invalidate() {},
        log: (message) => this.logs.push(message),
      }),
      onLog: (message) => this.logs.push(message),
    });
  }

  /** Sends INIT and offers these flags. */
  init(flags = 0xffff_ffff): Answer {
    return this.ask(Opcode.INIT, 0, initBody(7, 45, flags));
  }

  /** Sends a request that must get a reply. */
  ask(opcode: number, node = 1, body: Body = []): Answer {
    const answer = this.send(encodeRequest(opcode, node, body));
    assert.ok(answer, "the request was not answered");
    return answer;
  }

  /** Sends bytes. Returns `undefined` if there is no reply. */
  send(request: Uint8Array): Answer | undefined {
    const { session } = this;
    session.request.bytes.set(request);
    session.handle(request.length);
    return this.#answer();
  }

  /** Sends a request that is answered once something has been loaded. */
  async askToLoad(opcode: number, node = 1, body: Body = []): Promise<Answer> {
    assert.equal(this.send(encodeRequest(opcode, node, body)), undefined);
    assert.ok(this.session.needsLoading);
    await this.session.load();
    assert.ok(!this.session.needsLoading);
    const answer = this.#answer();
    assert.ok(answer, "the request was not answered");
    return answer;
  }

  /** Continues checks until a waiting request gets its reply. Returns `undefined` if none waits. */
  wait(): Answer | undefined {
    const { session } = this;
    while (session.isChecking) {
      if (session.answerWaiting()) return this.#answer();
      session.checkOn();
    }
    return undefined;
  }

  #answer(): Answer | undefined {
    const { reply } = this.session;
    if (reply.length === 0) {
      assert.equal(reply.payloadLength, 0);
      return undefined;
    }
    const { view } = reply;
    assert.ok(reply.length >= 16, "a reply has a header");
    assert.equal(
      view.getUint32(0, true),
      reply.length + reply.payloadLength,
      "the header states the length",
    );
    const errno = 0 - view.getInt32(4, true); // never -0
    assert.ok(errno >= 0 && errno < 512, "FUSE takes errors from 0 to -511");
    if (errno !== 0) assert.equal(reply.length + reply.payloadLength, 16);
    return {
      errno,
      unique: view.getBigUint64(8, true),
      body: new DataView(reply.bytes.slice(16, reply.length).buffer),
      payload: reply.payloadLength === 0
        ? undefined
        : [reply.payloadSource, reply.payloadOffset, reply.payloadLength],
    };
  }

  /** Returns the trace line of the last request. */
  trace(): string {
    return traceLine(this.session.request, this.session.reply);
  }
}
