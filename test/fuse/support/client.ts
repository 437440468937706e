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

/** A reply, taken apart. */
export interface Answer {
  /** 0 for success. */
  readonly errno: number;
  readonly unique: bigint;
  /** Header excluded. */
  readonly body: DataView;
  /** What follows the body: source, offset, length; `undefined` for nothing. */
  readonly payload: readonly [number, number, number] | undefined;
}

/** Owner and mask that nodes are served with. */
export interface ClientOptions {
  readonly uid?: number;
  readonly gid?: number;
  readonly umask?: number;
  /** What it shares with other clients, which are other threads of one mount then. */
  readonly listAhead?: ListAheadMemory;
  /** Likewise; without it no file is compared with its checksum. */
  readonly checks?: SampleChecksMemory;
  /** What the tree's content is sent from, where something reads it. */
  readonly sources?: readonly MappedSource[];
}

/** Plays the kernel's part against a {@linkcode Session}. */
export class Client {
  readonly session: Session;
  readonly connection = new ConnectionState();
  /** What was logged. */
  readonly logs: string[] = [];

  constructor(
    tree: Tree,
    {
      uid = 11,
      gid = 22,
      umask = 0,
      listAhead = newListAheadMemory(),
      checks,
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
      sources: new ListedSources(sources, {
        invalidate() {},
        log: (message) => this.logs.push(message),
      }),
      onLog: (message) => this.logs.push(message),
    });
  }

  /** Sends INIT with those flags offered. */
  init(flags = 0xffff_ffff): Answer {
    return this.ask(Opcode.INIT, 0, initBody(7, 45, flags));
  }

  /** Sends a request that must be answered. */
  ask(opcode: number, node = 1, body: Body = []): Answer {
    const answer = this.send(encodeRequest(opcode, node, body));
    assert.ok(answer, "the request was not answered");
    return answer;
  }

  /** Sends bytes; `undefined` when there is no answer. */
  send(request: Uint8Array): Answer | undefined {
    const { session } = this;
    session.request.bytes.set(request);
    session.handle(request.length);
    return this.#answer();
  }

  /** Lets it go on with checks until it answers a request that waited; `undefined` if none does. */
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

  /** The trace line of the last request. */
  trace(): string {
    return traceLine(this.session.request, this.session.reply);
  }
}
