import http from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A web server in this process, for as long as a test takes. */
export abstract class LocalServer implements AsyncDisposable {
  readonly #server: http.Server = http.createServer((request, response) =>
    this.answer(request, response)
  );

  readonly #sockets = new Set<Socket>();

  /** Bytes that it has sent, with those of headers. */
  get sent(): number {
    return [...this.#sockets]
      .reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  }

  /** Where it listens. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Has it listen. */
  protected async listen(): Promise<this> {
    this.#server.on("connection", (socket) => this.#sockets.add(socket));
    await new Promise<void>((resolve) =>
      this.#server.listen(0, "127.0.0.1", resolve)
    );
    return this;
  }

  protected abstract answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): void;
}
