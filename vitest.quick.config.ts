import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** `npm run test:quick`: unit tests and the cheap suites. Needs no service, no browser and no installed program. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    globalSetup: [],
    include: [
      '{packages,servers}/*/src/**/*.test.ts',
      'examples/{hello,guarded,deploy}.test.ts',
      'test/architecture/**/*.test.ts',
      'test/documents/**/*.test.ts',
    ],
    exclude: [
      '**/node_modules/**',
      '**/{redis,postgres}*.test.ts',
      // Each of these takes as long as ten others.
      '**/json-schema/referee.test.ts',
      '**/stores/sqlite.test.ts',
      'test/documents/*-written.test.ts',
    ],
  },
})
