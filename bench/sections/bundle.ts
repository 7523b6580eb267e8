/** A worker for workerd with one Zod tool, as an edge deployment uploads it. */
import { fileURLToPath } from 'node:url'
import { type Contender, scriptOf } from '../lib/contenders.ts'
import { formatFactor, formatNumber, interleave, progress, ratio, type Section } from '../lib/figures.ts'
import { gzippedKilobytes, maxKilobytes, workerOf } from '../lib/worker.ts'

const names: readonly Contender[] = ['floor', 'sluice', 'sdk-v2', 'sdk-v1', 'mcp-lite', 'tmcp']

async function bundleOf(name: Contender): Promise<{ readonly raw: number; readonly gzipped: number }> {
  const text = await workerOf({ entryPoints: [fileURLToPath(scriptOf(name, 'edge'))] })
  return { raw: Buffer.byteLength(text) / 1_000, gzipped: gzippedKilobytes(text) }
}

export async function bundle(): Promise<Section> {
  progress(`bundle: ${names.join(', ')}`)
  const bundles = await interleave(names, 1, bundleOf)
  const kilobytes = (name: Contender, kind: 'raw' | 'gzipped') => {
    const [sizes] = bundles.get(name) ?? []
    return sizes?.[kind]
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
          formatNumber(kilobytes(name, 'gzipped')),
          formatNumber(kilobytes(name, 'raw')),
          formatFactor(ratio(kilobytes(name, 'gzipped'), kilobytes('sdk-v2', 'gzipped'))),
        ]),
      },
    ],
    goals: [
      {
        figure: 'workerd bundle, gzipped',
        atMost: maxKilobytes,
        unit: ' KB',
        measured: kilobytes('sluice', 'gzipped'),
      },
    ],
  }
}
