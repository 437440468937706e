import type { Tree } from "../../src/tree/tree.ts";
import type { ConnectionState } from "../connection_state.ts";
import type { OnceLog } from "../once_log.ts";
import type { Reply } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";
import type { Ownership } from "../wire/node_structs.ts";

/** Answers a request: `reply` has been begun and stands for success without a body. */
export type Handler = (request: Request, reply: Reply) => void;

/** What handlers work on. */
export interface HandlerContext {
  readonly tree: Tree;
  readonly owner: Ownership;
  readonly connection: ConnectionState;
  /** Bytes of each of the tree's sources that may be sent as payload. */
  readonly sourceSizes: readonly number[];
  readonly log: OnceLog;
}
