import { mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

const all = { ...base, test: { ...base.test, include: [], globalSetup: [] } }

/** `npm run test:quick`: what needs no service, no browser and no installed program, in about a minute. */
export default mergeConfig(all, {
  test: {
    include: [
      '{packages,servers}/*/src/**/*.test.ts',
      'examples/{hello,guarded,deploy}.test.ts',
      'test/architecture/**/*.test.ts',
      'test/docs/blocks.test.ts',
      'test/documents/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/{redis,postgres}*.test.ts'],
  },
})
