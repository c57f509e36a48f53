# Two images from one file: the gateway (the default target) and, as target "demo", the parts around it in docker-compose.yml.
#     docker build -t sealgate .
#     docker build -t sealgate-demo --target demo .

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install script runs. The optional packages are Node itself, for machines without one, and the compiler, so they are
# needed here and left out below.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build -- --sourceMap false && chmod -R u=rwX,go=rX dist

# Packages bring types, sources and tests, more of them than code. Modes in a checkout follow its owner's umask; in the image
# any user may read everything, and only root may write.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json LICENSE ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && rm -f package-lock.json node_modules/.package-lock.json \
  && find node_modules -type d \( -name test -o -name tests -o -name __tests__ \) -prune -exec rm -rf {} + \
  && find node_modules -type f \( -name "*.ts" -o -name "*.mts" -o -name "*.cts" -o -name "*.map" \) -delete \
  && chmod -R u=rwX,go=rX /app

# Of the dev dependencies the demo needs the SDK's client and server only.
FROM build AS demo-files
COPY LICENSE ./
COPY demo demo
RUN node -e 'const fs = require("fs"); const p = JSON.parse(fs.readFileSync("package.json")); \
    for (const name of Object.keys(p.devDependencies)) \
      if (!/^@modelcontextprotocol\/(client|core|node|server)$/.test(name)) delete p.devDependencies[name]; \
    delete p.optionalDependencies; fs.writeFileSync("package.json", JSON.stringify(p));' \
  && npm prune --ignore-scripts --no-audit --no-fund \
  && rm -rf dist scripts tsconfig.json tsconfig.build.json package-lock.json node_modules/.package-lock.json \
  && find node_modules -type d \( -name test -o -name tests -o -name __tests__ \) -prune -exec rm -rf {} + \
  && find node_modules -type f \( -name "*.ts" -o -name "*.mts" -o -name "*.cts" -o -name "*.map" \) -delete \
  && chmod -R u=rwX,go=rX /app

# What both run on: Node, and no package manager.
FROM node:24-bookworm-slim AS runtime
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* /root/.npm
ENV NODE_ENV=production
WORKDIR /app
# By number, so that Kubernetes' runAsNonRoot can tell. Any other user does as well: nothing is written.
USER 1000:1000
STOPSIGNAL SIGTERM

FROM runtime AS demo
LABEL org.opencontainers.image.title="Sealgate demo" \
  org.opencontainers.image.description="Issuer, unprotected MCP server and client to try Sealgate with; not for production" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="0.1.0"
COPY --from=demo-files /app /app
ENTRYPOINT ["node", "/app/demo/part.ts"]
CMD ["--help"]

FROM runtime AS production
LABEL org.opencontainers.image.title="Sealgate" \
  org.opencontainers.image.description="HTTP reverse proxy that makes MCP Multi Round-Trip Requests safe" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.base.name="docker.io/library/node:24-bookworm-slim"
COPY --from=dependencies /app /app
COPY --from=build /app/dist /app/dist
# server.listen and admin.listen of the usual configuration.
EXPOSE 8080 9090
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s --retries=3 \
  CMD ["node", "/app/dist/main.js", "health", "--config", "/etc/sealgate/sealgate.yaml"]
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/sealgate/sealgate.yaml"]
