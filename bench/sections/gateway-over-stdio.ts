/** A server at a URL for clients on stdio, beside the programs that do only this: `mcp-remote` and `supergateway`. */
import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { programIn } from '../../test/kit/processes/npm-packages.ts'
import { startChild } from '../lib/child.ts'
import { scriptOf } from '../lib/contenders.ts'
import {
  formatFactor,
  formatInteger,
  formatNumber,
  interleave,
  median,
  progress,
  ratio,
  type Section,
} from '../lib/figures.ts'
import { openPipe, type Pipe } from '../lib/pipe.ts'

const names = ['sluice', 'mcp-remote', 'supergateway'] as const
type Name = (typeof names)[number]

const window = 8
const warmUpMs = 2_000
const roundMs = 500
const rounds = 9

const scriptFor = (name: Name): URL =>
  name === 'sluice'
    ? new URL('../gateway/over-stdio.ts', import.meta.url)
    : pathToFileURL(realpathSync(programIn('gateway-peers', name)))

const argsFor = (name: Name, url: string): readonly string[] => {
  if (name === 'sluice') return [url]
  return name === 'mcp-remote'
    ? [url, '--allow-http', '--transport', 'http-only']
    : ['--streamableHttp', url, '--logLevel', 'none']
}

export async function gatewayOverStdio(): Promise<Section> {
  const upstream = startChild(scriptOf('sdk-v1', 'http'))
  const pipes = new Map<Name, Pipe>()
  const drive = (name: Name, durationMs: number): Promise<{ readonly perSecond: number }> =>
    pipes.get(name)?.drive(durationMs) ?? Promise.reject(new Error('never started'))
  try {
    const { url } = await upstream.ask<{ url: string }>()
    progress(`gateway-peers on stdio: warming up ${names.join(', ')}`)
    const warm = await interleave(names, 1, async (name) => {
      pipes.set(name, await openPipe(scriptFor(name), '2025-11-25', window, argsFor(name, url)))
      return drive(name, warmUpMs)
    })
    const samples = await interleave([...warm.keys()], rounds, (name, round) => {
      if (name === names[0]) progress(`gateway-peers on stdio: round ${round + 1} of ${rounds}`)
      return drive(name, roundMs)
    })
    const rate = (name: Name): number | undefined => {
      const taken = samples.get(name)
      return taken && median(taken.map(({ perSecond }) => perSecond))
    }
    return {
      figures: Object.fromEntries(names.map((name) => [name, formatInteger(rate(name))])),
      tables: [
        {
          title: 'gateway: a server at a URL on stdio, tools/call of 2025-11-25',
          notes: [`SDK v1 as upstream, ${window} in flight, median of ${rounds} rounds of ${roundMs / 1_000} s`],
          columns: ['', 'calls/s', 'sluice is'],
          rows: names.map((name) => [name, formatNumber(rate(name)), formatFactor(ratio(rate('sluice'), rate(name)))]),
        },
      ],
      goals: [],
    }
  } finally {
    for (const pipe of pipes.values()) pipe.close()
    upstream.close()
  }
}
