/**
 * Containers over HTTP: a page to view them, files with ranges, WebDAV. `serve` starts a server; `handler` creates a
 * request handler for a custom server.
 *
 * @module
 */
export { handler, type RequestHandler } from "./handler.ts";
export type { Access, HandlerOptions } from "./options.ts";
export { serve, type ServedAddress, type ServeOptions } from "./serve.ts";
export type { ServedSource } from "./api/sources.ts";
