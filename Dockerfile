# Aperture in a container: not root, one volume, a health check. docs/guide/docker.md says how it is used.

FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
COPY panel panel
RUN npm run build
RUN npm prune --omit=dev

FROM node:20-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN install -d -o node -g node -m 700 /data
ENV NODE_ENV=production
ENV APERTURE_HOST=0.0.0.0
ENV APERTURE_ALLOW_REMOTE=1
ENV APERTURE_DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 4400
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.APERTURE_PORT ?? 4400) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/cli/main.cjs"]
CMD ["up"]
