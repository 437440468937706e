/** A proxy in this process: requests with absolute URLs, and tunnels (RFC 9110, 9.3.6). */
import http from "node:http";
import net, { type Socket } from "node:net";
import { LocalServer } from "./local_server.ts";

/** HTTP proxy. */
export class ProxyServer extends LocalServer {
  /** Method and target of each request, in order. */
  readonly asked: string[] = [];
  /** Address of the server for host names that cannot be resolved. */
  readonly servers = new Map<string, string>();
  /** Required value of `Proxy-Authorization`, if any. */
  wants: string | undefined;

  /** Starts a proxy. */
  static async start(): Promise<ProxyServer> {
    return await new ProxyServer().listen();
  }

  protected answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): void {
    this.asked.push(`${request.method} ${request.url}`);
    if (this.#isRefused(request)) {
      response.writeHead(407).end();
      return;
    }
    const { host, pathname, search } = new URL(request.url!);
    const server = this.servers.get(host) ?? `http://${host}`;
    const { hostname, port } = new URL(server);
    const { headers } = request;
    const path = pathname + search;
    http.get({ host: hostname, port, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    }).on("error", () => response.destroy());
  }

  protected override connect(
    request: http.IncomingMessage,
    socket: Socket,
    head: Uint8Array,
  ): void {
    this.asked.push(`CONNECT ${request.url}`);
    socket.on("error", () => {});
    if (this.#isRefused(request)) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const there = net.connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      there.write(head);
      there.pipe(socket);
      socket.pipe(there);
    });
    there.on("error", () => socket.destroy());
    socket.on("close", () => there.destroy());
  }

  #isRefused({ headers }: http.IncomingMessage): boolean {
    return this.wants !== undefined &&
      headers["proxy-authorization"] !== this.wants;
  }
}
