import { defineConfig } from 'vitest/config'

const source = (path: string): string => new URL(`packages/sluice/src/${path}`, import.meta.url).pathname

/** Tests run on the sources, so that coverage speaks of what is read; programs they start run on the build. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^sluice$/, replacement: source('index.ts') },
      { find: /^sluice\/node$/, replacement: source('node.ts') },
      { find: /^sluice\/fetch$/, replacement: source('transports/fetch.ts') },
      { find: /^sluice\/json-schema$/, replacement: source('json-schema/index.ts') },
      { find: /^sluice\/jwt$/, replacement: source('layers/identities/jwt.ts') },
      { find: /^sluice\/tracing$/, replacement: source('observe/tracing.ts') },
      { find: /^sluice\/toon$/, replacement: source('toon.ts') },
      { find: /^sluice\/sqlite$/, replacement: source('stores/sqlite.ts') },
      { find: /^sluice\/redis$/, replacement: source('stores/redis.ts') },
      { find: /^sluice\/testing$/, replacement: source('testing/index.ts') },
    ],
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'examples/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/*.test.ts', '**/*.d.ts'],
      reporter: ['text', 'json-summary'],
      thresholds: {
        lines: 90,
        'packages/sluice/src/{core,protocol}/**': { lines: 95 },
      },
    },
  },
})
