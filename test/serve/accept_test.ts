import assert from "node:assert/strict";
import { asksForHtml, prefersHtml } from "../../src/serve/accept.ts";

Deno.test("Accept decides between HTML and JSON by RFC 9110, 12.5.1", () => {
  const html = [
    null, // 12.5.1: a missing header means `*/*`
    "*/*",
    "text/html",
    "TEXT/HTML",
    "text/*",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "application/json;q=0.5, text/html",
    "application/json;q=0.5, */*",
    "application/json;q=0, */*",
    "application/json, text/html", // the order does not matter
    "text/html;level=1;q=0.7, application/json;q=0.6",
    "text/html; q=0.8 , application/json; q=0.799",
    "application/json;q=0.4, text/*;q=0.5",
    'text/plain;a="x, application/json;q=1", text/html;q=0.1',
    // An invalid weight.
    "application/json;q=2, text/html;q=0.1",
    "application/json;q=, text/html;q=0.1",
    // Neither HTML nor JSON.
    "image/png",
    "",
    ",;,",
    "application/jsonx, xtext/html",
  ];
  const json = [
    "application/json",
    "application/json; charset=utf-8",
    "application/*",
    "application/json, text/html;q=0.9, */*;q=0.1",
    "application/json, text/plain, */*", // of two equal weights, the more specific range wins
    "text/html;q=0.5, application/json",
    "text/html;q=0, */*",
    "text/html;q=0.001, */*;q=0.002",
    "*/*;q=0.1, application/json;q=0.2",
    "text/html;q=0.000, application/json;q=0.001",
  ];
  for (const accept of html) assert.ok(prefersHtml(accept), `${accept}`);
  for (const accept of json) assert.ok(!prefersHtml(accept), accept);
});

Deno.test("browsers request HTML, and programs do not", () => {
  const browsers = [
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/html, */*;q=0.1",
    "text/html;q=0.5, image/*",
  ];
  const programs = [
    ...[null, "", "*/*", "text/*", "application/json"],
    ...["text/html;q=0", "text/html;q=0.5, application/json"],
    "image/avif,image/webp,*/*;q=0.8",
  ];
  for (const accept of browsers) assert.ok(asksForHtml(accept), accept);
  for (const accept of programs) assert.ok(!asksForHtml(accept), `${accept}`);
});

Deno.test("an Accept header of any length is read quickly", () => {
  const hostile = ['"', '"\\', ";q=", "a/b,", "; ", '";', ",", "\\"];
  for (const part of hostile) {
    const start = performance.now();
    prefersHtml(part.repeat(250_000 / part.length));
    assert.ok(performance.now() - start < 2000, part);
  }
});
