import { newStat } from "../../src/tree/tree.ts";
import { Errno } from "../wire/errno.ts";
import { REPLY_HEADER_SIZE } from "../wire/reply.ts";
import { ATTR_OUT_SIZE, NodeStructs } from "../wire/node_structs.ts";
import type { Handler, HandlerContext } from "./handler.ts";

/** GETATTR: describes a node. */
export function getattrHandler(
  { tree, owner, checks }: HandlerContext,
): Handler {
  const stat = newStat();
  const structs = new NodeStructs(owner);
  return (request, reply) => {
    const node = request.node;
    if (!tree.stat(node, stat)) {
      reply.fail(Errno.ENOENT);
      return;
    }
    checks?.checkEmpty(node, stat);
    structs.putAttrOut(reply.words, REPLY_HEADER_SIZE, node, stat);
    reply.body(ATTR_OUT_SIZE);
  };
}
