/** Stream of the lines in a stream of bytes. */
export class TextLineStream
  extends TransformStream<Uint8Array<ArrayBuffer>, string> {
  constructor() {
    const decoder = new TextDecoder();
    let rest = "";
    super({
      transform(bytes, controller) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split(
          "\n",
        );
        rest = lines.pop()!;
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}
