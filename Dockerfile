# One image for all processes: the api by default, `node worker/main.js` for a worker, `node migrations/migrate.js` to release.

FROM node:24-bookworm AS build
WORKDIR /isobot
COPY package.json package-lock.json ./
# The isolates come compiled for the usual machines; for others this image has what compiles them.
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production PORT=3000
WORKDIR /isobot
# Nothing of it belongs to the user that runs it.
COPY --from=build /isobot /isobot
USER node
EXPOSE 3000
# A worker has no port: start it with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "api/main.js"]
