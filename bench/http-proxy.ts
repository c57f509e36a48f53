/** The yardstick: @fastify/http-proxy with its defaults, which reads and checks nothing. */
import httpProxy from "@fastify/http-proxy";
import Fastify from "fastify";

const app = Fastify({ logger: false });
await app.register(httpProxy, { upstream: process.argv[2] ?? "", prefix: "/mcp" });
const url = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ url }));
