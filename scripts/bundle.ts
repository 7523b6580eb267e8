/**
 * Joins the compiled modules into a file per entry and what they share. Node spends longer finding and opening a hundred
 * small files than running them; types and sources stay as `tsc` made them.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import pkg from '../packages/sluice/package.json' with { type: 'json' }

const root = join(import.meta.dirname, '../packages/sluice')
const entries = Object.values(pkg.exports).map(({ default: path }) => path.replace('./lib/', ''))
/** Started by the store contract as a process of its own. */
const programs = ['stores/contract-child.js']

rmSync(join(root, 'lib'), { recursive: true, force: true })
await build({
  entryPoints: [...entries, ...programs].map((entry) => join(root, 'dist', entry)),
  outbase: join(root, 'dist'),
  outdir: join(root, 'lib'),
  bundle: true,
  splitting: true,
  packages: 'external',
  format: 'esm',
  target: 'es2024',
  platform: 'neutral',
  external: ['node:*'],
  sourcemap: true,
  logLevel: 'warning',
})
