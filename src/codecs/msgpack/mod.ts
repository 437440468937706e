/**
 * MessagePack as Python's `msgpack` reads and writes it.
 *
 * @module
 */
export { readMsgpack } from "./read_msgpack.ts";
export {
  MsgpackError,
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type MsgpackValue,
  type PackableValue,
} from "./value.ts";
export { writeMsgpack } from "./write_msgpack.ts";
