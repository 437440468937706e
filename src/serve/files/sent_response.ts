/** What a server tells of a request besides it; `Deno.ServeHandlerInfo` is one. */
export interface Sending {
  /** Resolves when its answer has been sent. */
  readonly completed: Promise<void>;
}

/** Bytes from which on an answer's memory is worth giving back by itself. */
const LARGE = 16 << 10;

/**
 * An answer of bytes, whose memory goes when it has been sent. `new Response` copies them to memory of its own, which
 * nobody else can reach, and which stays until V8 looks for garbage: that it does whenever 64 MB have come together, of
 * files of 100 KB 20 times a second, and it takes a third of what answering does.
 *
 * @param sending Must come from the server that the answer goes to, unchanged, and nobody else may read it. Unless
 * given, V8 frees what there is.
 */
export function sentResponse(
  bytes: Uint8Array<ArrayBuffer>,
  sending: Sending | undefined,
): Response {
  if (sending === undefined || bytes.length < LARGE) return new Response(bytes);
  const { buffer, byteOffset, length } = bytes;
  const response = new Response(new ToCopy(buffer, byteOffset, length));
  const copy = takeCopied();
  if (copy !== undefined) {
    // What sends it still, if anything, has a hold of its own on the memory. Of what is not sent, V8 frees it.
    sending.completed.then(() => copy.buffer.transfer(0), () => {});
  }
  return response;
}

/** Bytes that tell what they are copied to: `slice` asks their class for that (ECMA-262, 23.2.4.1). */
class ToCopy extends Uint8Array<ArrayBuffer> {
  static get [Symbol.species]() {
    return newCopy;
  }
}

/** What bytes were copied to, until it is asked for. */
let copied: Uint8Array<ArrayBuffer> | undefined;

function newCopy(length: number): Uint8Array<ArrayBuffer> {
  return copied = new Uint8Array(length);
}

function takeCopied(): Uint8Array<ArrayBuffer> | undefined {
  const copy = copied;
  copied = undefined;
  return copy;
}
