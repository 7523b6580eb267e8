/** The page as a few static files, in the library's own package: whoever has `sluice/console` has its page. */

import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  // Addresses relative to the page, so that it works below any path.
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../sluice/lib/console',
    emptyOutDir: true,
    target: 'es2023',
    // Inlined ones would need `data:` in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A busy machine is no news.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
