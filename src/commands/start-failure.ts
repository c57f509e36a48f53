/** Why a gateway could not start, in one sentence that names the setting. */
import { printListen } from "../config/addresses.ts";
import { printPath } from "../config/json-schema.ts";
import type { Config } from "../config/schema.ts";

const LISTEN: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another process",
  EADDRNOTAVAIL: "is no address of this machine",
  EACCES: "may not be listened on by this user",
  EPERM: "may not be listened on by this user",
  EAFNOSUPPORT: "is of a kind that this machine does not have",
  ENOTFOUND: "has a host name that leads to no address",
  EAI_AGAIN: "has a host name that leads to no address",
};

const WRITE: Readonly<Record<string, string>> = {
  EACCES: "may not be written by this user",
  EPERM: "may not be written by this user",
  EROFS: "is on a file system that cannot be written",
  EISDIR: "is a folder",
  ENOENT: "has no folder",
  ENOTDIR: "has no folder",
  ENOSPC: "has no space left to be written",
};

interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
  readonly path?: unknown;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/**
 * @param error what `start` has thrown
 * @param quick the configuration comes from `--upstream` and not from a file
 * @returns one line, without a stop at the end; the error's own message where nothing better is known
 */
export function startFailure(error: unknown, config: Config, quick: boolean): string {
  if (!isSystemError(error)) return error instanceof Error ? error.message : "unknown cause";
  if (error.syscall === "listen" || error.syscall.startsWith("getaddrinfo")) {
    const { setting, listen } = listenerOf(error, config);
    const name = quick ? "--listen" : setting;
    return `${printListen(listen)} (${name}) ${LISTEN[error.code] ?? `cannot be listened on: ${error.code}`}`;
  }
  const index = config.audit.sinks.findIndex((sink) => sink.type === "file" && sink.path === error.path);
  if (index < 0) return error.message;
  const setting = printPath(["audit", "sinks", index, "path"]);
  return `${String(error.path)} (${setting}) ${WRITE[error.code] ?? `cannot be opened: ${error.code}`}`;
}

/** Which of the two listeners it was. */
function listenerOf({ address, hostname, port }: SystemError, { server, admin }: Config) {
  const isServer = { setting: "server.listen", listen: server.listen };
  if (admin === undefined) return isServer;
  const isAdmin = { setting: "admin.listen", listen: admin.listen };
  const where = address ?? hostname;
  if (port === server.listen.port && port !== admin.listen.port) return isServer;
  if (port === admin.listen.port && port !== server.listen.port) return isAdmin;
  return where === admin.listen.host && where !== server.listen.host ? isAdmin : isServer;
}
