/** A server at a URL for clients on stdio, beside the programs that do only this: `mcp-remote` and `supergateway`. */
import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { programIn } from '../../test/kit/processes/npm-packages.ts'
import { startChild } from '../lib/child.ts'
import { scriptOf } from '../lib/contenders.ts'
import { formatFactor, formatInteger, formatNumber, ratio, type Section } from '../lib/figures.ts'
import { describeRounds, driveInRounds } from '../lib/gateway-rounds.ts'
import { openPipe, type Pipe } from '../lib/pipe.ts'

const names = ['sluice', 'mcp-remote', 'supergateway'] as const
type Name = (typeof names)[number]

const window = 8

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
  // A fast upstream, because with a slow one all programs wait for it and look alike.
  const upstream = startChild(scriptOf('sluice', 'http'))
  const pipes: Pipe[] = []
  try {
    const { url } = await upstream.ask<{ url: string }>()
    const of = await driveInRounds('gateway-peers on stdio', names, async (name) => {
      const pipe = await openPipe(scriptFor(name), '2025-11-25', window, argsFor(name, url))
      pipes.push(pipe)
      return pipe
    })
    const rate = (name: Name): number | undefined => of(name, ({ perSecond }) => perSecond)
    const best = Math.max(...names.slice(1).map((name) => rate(name) ?? 0))
    return {
      figures: Object.fromEntries(names.map((name) => [name, formatInteger(rate(name))])),
      tables: [
        {
          title: 'gateway: a server at a URL on stdio, tools/call of 2025-11-25',
          notes: [`Sluice as upstream, ${window} in flight, ${describeRounds}`],
          columns: ['', 'calls/s', 'sluice is'],
          rows: names.map((name) => [name, formatNumber(rate(name)), formatFactor(ratio(rate('sluice'), rate(name)))]),
        },
      ],
      goals: [
        {
          figure: 'gateway, HTTP on stdio, times the best peer',
          atLeast: 3,
          unit: '×',
          measured: best > 0 ? ratio(rate('sluice'), best) : undefined,
        },
      ],
    }
  } finally {
    for (const pipe of pipes) pipe.close()
    upstream.close()
  }
}
