/**
 * A worker for workerd with one Zod tool, bundled and minified by esbuild: what an edge deployment uploads.
 */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Contender, scriptOf } from '../lib/contenders.ts'
import { interleave, number, progress, ratio, type Section, times } from '../lib/figures.ts'

const names: readonly Contender[] = ['floor', 'sluice', 'sdk-v2', 'sdk-v1', 'mcp-lite', 'tmcp']

/** The conditions and the externals are those Wrangler uses for a worker with Node compatibility. */
async function bundleOf(name: Contender): Promise<{ readonly raw: number; readonly gzipped: number }> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(scriptOf(name, 'edge'))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  const [output] = outputFiles
  if (!output) throw new Error('esbuild wrote nothing')
  return { raw: output.contents.length, gzipped: gzipSync(output.contents, { level: 9 }).length }
}

export async function bundle(): Promise<Section> {
  progress(`bundle: ${names.join(', ')}`)
  const bundles = await interleave(names, 1, bundleOf)
  const kilobytes = (name: Contender, kind: 'raw' | 'gzipped') => {
    const [sizes] = bundles.get(name) ?? []
    return sizes && sizes[kind] / 1_000
  }
  return {
    figures: Object.fromEntries(names.map((name) => [name, kilobytes(name, 'gzipped') ?? null])),
    tables: [
      {
        title: 'bundle: a worker with one Zod tool, KB',
        notes: ['esbuild, minified, gzip -9; floor: Zod alone'],
        columns: ['', 'gzipped', 'minified', 'vs sdk-v2'],
        rows: names.map((name) => [
          name,
          number(kilobytes(name, 'gzipped')),
          number(kilobytes(name, 'raw')),
          times(ratio(kilobytes(name, 'gzipped'), kilobytes('sdk-v2', 'gzipped'))),
        ]),
      },
    ],
    goals: [{ figure: 'workerd bundle, gzipped', atMost: 50, unit: ' KB', measured: kilobytes('sluice', 'gzipped') }],
  }
}
