import type { Tree } from "../../src/tree/tree.ts";
import type { ConnectionState } from "../server/connection_state.ts";
import type { OnceLog } from "./once_log.ts";
import type { Delegation } from "../fetching/delegation.ts";
import type { SampleChecks } from "../checksums/sample_checks.ts";
import type { ServedSources } from "../content/served_sources.ts";
import type { Reply } from "../wire/reply.ts";
import type { Request } from "../wire/request.ts";
import type { Ownership } from "../wire/node_structs.ts";

/** Answers a request. `reply` has been begun as a success without a body. */
export type Handler = (request: Request, reply: Reply) => void;

export interface HandlerContext {
  readonly tree: Tree;
  readonly owner: Ownership;
  readonly connection: ConnectionState;
  readonly sources: ServedSources;
  /** Verifies checksums, if enabled and the tree has any. */
  readonly checks: SampleChecks | undefined;
  readonly log: OnceLog;
  /** Delegates reads to the fetch thread, if the tree has remote sources. */
  readonly delegation: Delegation | undefined;
}
