import type { Tree } from "../../src/tree/tree.ts";
import type { ConnectionState } from "../server/connection_state.ts";
import type { OnceLog } from "./once_log.ts";
import type { HandOver } from "../fetching/hand_over.ts";
import type { SampleChecks } from "../checksums/sample_checks.ts";
import type { ServedSources } from "../content/served_sources.ts";
import type { Reply } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";
import type { Ownership } from "../wire/node_structs.ts";

/** Answers a request: `reply` has been begun and stands for success without a body. */
export type Handler = (request: Request, reply: Reply) => void;

/** State that handlers work on. */
export interface HandlerContext {
  readonly tree: Tree;
  readonly owner: Ownership;
  readonly connection: ConnectionState;
  /** The tree's sources, whose bytes may be sent as payload. */
  readonly sources: ServedSources;
  /** Compares files with their checksums, unless nobody wants that or there are none. */
  readonly checks: SampleChecks | undefined;
  readonly log: OnceLog;
  /** Takes what has to be fetched from servers, where the tree shows such. */
  readonly handOver: HandOver | undefined;
}
