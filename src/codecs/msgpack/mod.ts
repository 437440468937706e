/**
 * MessagePack as Python's `msgpack` reads and writes it.
 *
 * @module
 */
export {
  MsgpackError,
  readMsgpack,
  type ReadMsgpackOptions,
} from "./read_msgpack.ts";
export {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type MsgpackValue,
  type PackableValue,
} from "./value.ts";
export { writeMsgpack } from "./write_msgpack.ts";
export { type ErrorFacts, RecordfsError } from "../../errors.ts";
