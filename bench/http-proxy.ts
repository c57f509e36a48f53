/**
 * The yardstick: @fastify/http-proxy with its defaults, which reads and checks nothing. Its defaults hold 128 connections to a
 * server, which as many streams use up; a number behind the URL is another bound.
 */
import httpProxy from "@fastify/http-proxy";
import Fastify from "fastify";

const app = Fastify({ logger: false });
const [, , upstream = "", connections] = process.argv;
const undici = connections === undefined ? {} : { undici: { connections: Number(connections) } };
await app.register(httpProxy, { upstream, prefix: "/mcp", ...undici });
const url = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ url }));
