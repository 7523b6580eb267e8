import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import consolePackage from './packages/console/package.json' with { type: 'json' }
import library from './packages/sluice/package.json' with { type: 'json' }

const here = (path: string): string => new URL(path, import.meta.url).pathname

/**
 * Each entry as its source: `sluice/node` is `packages/sluice/src/node.ts`. The console too, because a console of the build
 * would have another library than the servers that it shows.
 */
const sources = Object.entries({ sluice: library, console: consolePackage }).flatMap(([folder, { name, exports }]) =>
  Object.entries<{ readonly types: string }>(exports).map(([entry, { types }]) => ({
    find: new RegExp(`^${name}${entry.slice(1)}$`),
    replacement: here(`packages/${folder}/${types.replace('./dist/', 'src/').replace('.d.ts', '.ts')}`),
  })),
)

/** The same cases in every run. */
const seeded = { find: /^fast-check$/, replacement: here('test/fast-check.ts') }

/** Tests run on the sources, so that coverage speaks of what is read; programs they start run on the build. */
export default defineConfig({
  resolve: { alias: [...sources, seeded] },
  test: {
    include: [
      '{packages,servers}/*/src/**/*.test.ts',
      '{packages,servers}/*/test/**/*.test.ts',
      'examples/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    /** One per core: vitest leaves one idle by itself, and most tests wait for other processes. */
    maxWorkers: availableParallelism(),
    globalSetup: ['test/kit/processes/global-setup.ts'],
    /* Generous, since none of them is what a test is about: a slow machine is no failure. */
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    /** A test that passes at the second try has found something: it fails. */
    retry: 0,
    coverage: {
      provider: 'v8',
      include: ['{packages,servers}/*/src/**/*.ts'],
      exclude: [
        '**/*.test.ts',
        '**/*.d.ts',
        /* In the browser, where test/console drives it. */ 'packages/console/src/page/{client,event-stream,hooks,theme}.ts',
      ],
      // Short, so that what failed is still on the screen; the files one by one are in coverage/.
      reporter: ['text-summary', 'html', 'json-summary'],
      // The figure is wanted most when something failed.
      reportOnFailure: true,
      thresholds: {
        lines: 88,
        'packages/sluice/src/{core,protocol}/**': { lines: 90 },
      },
    },
  },
})
