import http from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** Key and certificate of a server, both as PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Web server in this process. */
export abstract class LocalServer implements AsyncDisposable {
  readonly #server: http.Server;
  readonly #scheme: string;
  readonly #sockets = new Set<Socket>();

  /** @param tls Certificate of a server that speaks TLS. */
  protected constructor(tls?: Certificate) {
    const answer: http.RequestListener = (request, response) =>
      this.answer(request, response);
    this.#server = tls === undefined
      ? http.createServer(answer)
      : https.createServer(tls, answer);
    this.#scheme = tls === undefined ? "http" : "https";
    this.#server.on("connect", (request, socket: Socket, head: Uint8Array) => {
      this.connect(request, socket, head);
    });
  }

  /** Number of bytes sent, including headers. */
  get sent(): number {
    return [...this.#sockets]
      .reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  }

  /** Base URL of the server. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Starts to listen. */
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

  /** Responds to `CONNECT`, which only proxies support. */
  protected connect(
    _request: http.IncomingMessage,
    socket: Socket,
    _head: Uint8Array,
  ): void {
    socket.destroy();
  }
}
