/** Builds the page as static files into the package, beside the server that sends them. */

import { defineConfig } from 'vite'

export default defineConfig({
  root: `${import.meta.dirname}/src/page`,
  // Relative URLs, so that the page works below any path.
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../lib/page',
    emptyOutDir: true,
    target: 'es2023',
    // Inlined assets would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Slow plugins on a busy machine are not worth a warning.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
