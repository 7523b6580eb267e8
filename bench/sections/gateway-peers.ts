/**
 * A command served over HTTP, and a URL on stdio. Over HTTP it is beside the programs that do only this: `mcp-proxy`
 * and `supergateway`. The upstream is the same stdio server for all. Sluice runs with its checks and its log line per
 * request.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { programIn } from '../../test/kit/processes/npm-packages.ts'
import { logs } from '../lib/child.ts'
import { scriptOf } from '../lib/contenders.ts'
import { formatFactor, formatInteger, formatNumber, ratio, type Section } from '../lib/figures.ts'
import { describeRounds, driveInRounds } from '../lib/gateway-rounds.ts'
import { openSessions, type SessionClients } from '../lib/session-load.ts'
import { gatewayOverStdio } from './gateway-over-stdio.ts'

const names = ['sluice', 'mcp-proxy', 'supergateway'] as const
type Name = (typeof names)[number]

const sessions = 8
const startMs = 30_000

const upstream = fileURLToPath(scriptOf('sluice', 'stdio'))

const commandOf = (name: Name, port: string): readonly [string, ...string[]] => {
  if (name === 'sluice')
    return [process.execPath, fileURLToPath(new URL('../gateway/stdio-bare.ts', import.meta.url)), port]
  const program = programIn('gateway-peers', name)
  return name === 'mcp-proxy'
    ? [program, '--port', port, '--host', '127.0.0.1', '--server', 'stream', '--', process.execPath, upstream]
    : [
        ...([program, '--stdio', `${process.execPath} ${upstream}`, '--outputTransport', 'streamableHttp'] as const),
        ...['--stateful', '--port', port, '--logLevel', 'none'],
      ]
}

async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

async function start(name: Name): Promise<{ readonly child: ChildProcess; readonly clients: SessionClients }> {
  const port = await freePort()
  const [command, ...args] = commandOf(name, port)
  const child = spawn(command, args, { stdio: ['ignore', logs, logs] })
  const until = Date.now() + startMs
  for (;;)
    try {
      return { child, clients: await openSessions(`http://127.0.0.1:${port}/mcp`, sessions) }
    } catch (thrown) {
      if (Date.now() > until || child.exitCode !== null) throw thrown
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
}

/** Both directions: a command over HTTP, and a URL on stdio. */
export async function gatewayPeers(): Promise<Section> {
  const [http, stdio] = [await overHttp(), await gatewayOverStdio()]
  return {
    figures: { http: http.figures, stdio: stdio.figures },
    tables: [...http.tables, ...stdio.tables],
    goals: [...http.goals, ...stdio.goals],
  }
}

async function overHttp(): Promise<Section> {
  const children: ChildProcess[] = []
  try {
    const of = await driveInRounds('gateway-peers', names, async (name) => {
      const { child, clients } = await start(name)
      children.push(child)
      return clients
    })
    const rate = (name: Name): number | undefined => of(name, ({ perSecond }) => perSecond)
    const best = Math.max(...names.slice(1).map((name) => rate(name) ?? 0))
    return {
      figures: Object.fromEntries(names.map((name) => [name, formatInteger(rate(name))])),
      tables: [
        {
          title: 'gateway: a stdio server over HTTP, tools/call of 2025-11-25',
          notes: [
            `${sessions} sessions with one call in flight each, ${describeRounds}`,
            'sluice and mcp-proxy run one process for all sessions, supergateway runs one for each',
          ],
          columns: ['', 'calls/s', 'sluice is', 'p50 ms', 'p99 ms'],
          rows: names.map((name) => [
            name,
            formatNumber(rate(name)),
            formatFactor(ratio(rate('sluice'), rate(name))),
            formatNumber(of(name, ({ p50Ms }) => p50Ms)),
            formatNumber(of(name, ({ p99Ms }) => p99Ms)),
          ]),
        },
      ],
      goals: [
        {
          figure: 'gateway, stdio over HTTP, times the best peer',
          atLeast: 3,
          unit: '×',
          measured: best > 0 ? ratio(rate('sluice'), best) : undefined,
        },
      ],
    }
  } finally {
    for (const child of children) child.kill('SIGTERM')
  }
}
