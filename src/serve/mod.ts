/**
 * Containers over HTTP: a page to view them, files with ranges, WebDAV. `serve` starts a server; `handler` creates a
 * request handler for a custom server.
 *
 * @module
 */
export { handler } from "./handler.ts";
export type { HandlerOptions, ServeOptions } from "./options.ts";
export { serve } from "./serve.ts";
