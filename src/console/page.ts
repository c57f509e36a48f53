/** The console's page: a few files that hold nothing secret, served to anybody who may reach the listener while the console is on. */
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";

const FOLDER = new URL("assets/", import.meta.url);

const SCRIPT = "text/javascript; charset=utf-8";

/** Name in the path → media type. The page loads these and nothing else. */
const FILES = {
  "index.html": "text/html; charset=utf-8",
  "console.css": "text/css; charset=utf-8",
  ...{
    "console.js": SCRIPT,
    "talk.js": SCRIPT,
    "story.js": SCRIPT,
    "elements.js": SCRIPT,
    "trips.js": SCRIPT,
  },
  ...{ "diagram.js": SCRIPT, "panels.js": SCRIPT, "confirm.js": SCRIPT, "overrides.js": SCRIPT },
  "approvals.js": SCRIPT,
} as const;

/** No script but ours, nothing from elsewhere, in no frame, and no name of ours left anywhere. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/**
 * Adds the page under /console/. The files are read once.
 * @param on `admin.console` in force, with a token
 * @throws Error when a file is missing from the installation
 */
export function servePage(app: FastifyInstance, on: () => boolean): void {
  const pages = Object.entries(FILES).map(([file, type]) => ({
    path: `/console/${file === "index.html" ? "" : file}`,
    type,
    body: readFileSync(new URL(file, FOLDER)),
  }));
  app.register((scope, _options, done) => {
    scope.addHook("onRequest", async (_request, reply) => {
      if (!on()) return reply.code(404).send({ error: "not found" });
    });
    scope.get("/console", (_request, reply) => reply.redirect("/console/", 308));
    for (const { path, type, body } of pages)
      scope.get(path, (_request, reply) => reply.headers(HEADERS).type(type).send(body));
    done();
  });
}
