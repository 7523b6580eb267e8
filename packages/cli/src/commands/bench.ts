/** `sluice bench`: measures how many calls a second a server handles, and their latency. */

import { Agent, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { modern, type Params, withEnvelope } from '../client/message.ts'
import { type ConnectOptions, headersOf, isUrl } from '../client/open.ts'
import { CommandError, exitCodes, plural, styled, type Terminal, table, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface BenchOptions extends ConnectOptions {
  readonly tool?: string
  readonly args?: string
  readonly connections: string
  readonly seconds: string
  readonly json?: boolean
}

export interface BenchResult {
  readonly calls: number
  readonly failed: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export async function bench(
  { terminal, signal, env }: CommandContext,
  target: string,
  options: BenchOptions,
): Promise<number> {
  if (!isUrl(target)) throw new CommandError('bench needs a URL that starts with http:// or https://', exitCodes.usage)
  const isSecure = new URL(target).protocol === 'https:'
  const connections = parsePositive('connections', options.connections, 1000)
  const seconds = parsePositive('seconds', options.seconds, 600)
  const { method, params } = messageOf(options)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: withEnvelope(params, {}) })
  const headers = {
    ...headersOf(options, env),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': modern,
    'mcp-method': method,
    ...(options.tool && { 'mcp-name': options.tool }),
  }
  const agent = new (isSecure ? SecureAgent : Agent)({ keepAlive: true, maxSockets: connections })
  const send = isSecure ? secureRequest : request
  const until = performance.now() + seconds * 1000
  const times: number[] = []
  let failed = 0
  let limited = 0
  const started = performance.now()
  const callOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const began = performance.now()
      const sent = send(target, { method: 'POST', agent, headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          if (text.length < 4096) text += chunk.toString()
        })
        response.on('end', () => {
          if (response.statusCode === 429) limited++
          if (response.statusCode !== 200 || text.includes('"error":{')) failed++
          times.push(performance.now() - began)
          resolve()
        })
      })
      sent.on('error', () => {
        failed++
        resolve()
      })
      sent.end(body)
    })
  await callOnce()
  if (failed > 0)
    throw new CommandError(
      `The first call failed. See why with: sluice call ${target}${options.tool ? ` ${options.tool}` : ''}`,
    )
  const endProgress = progress(terminal, seconds, () => times.length)
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until && !signal.aborted) await callOnce()
    }),
  )
  endProgress()
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 100) / 100
  const took = (performance.now() - started) / 1000
  const measured: BenchResult = {
    calls: times.length,
    failed,
    perSecond: Math.round(times.length / took),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
  if (options.json) terminal.out(toJson(measured))
  else
    terminal.out(
      table(
        terminal,
        ['CALLS', 'FAILED', 'PER SECOND', 'MEDIAN', 'P99'],
        [
          [
            String(measured.calls),
            String(failed),
            String(measured.perSecond),
            `${measured.p50Ms} ms`,
            `${measured.p99Ms} ms`,
          ],
        ],
      ),
    )
  if (limited > 0)
    terminal.err(
      `${plural(limited, 'call')} hit a rate limit, so this measured the server’s rate limit, not its speed.`,
    )
  return failed > 0 ? exitCodes.failed : exitCodes.ok
}

/** Shows the progress every second, on one line that is erased at the end. */
function progress(terminal: Terminal, seconds: number, calls: () => number): () => void {
  if (!terminal.isTty) return () => {}
  let passed = 0
  const timer = setInterval(() => {
    process.stderr.write(`\r${styled(terminal, 'dim', `${++passed} of ${seconds} s, ${plural(calls(), 'call')}`)}`)
  }, 1000)
  return () => {
    clearInterval(timer)
    if (passed > 0) process.stderr.write('\r\u001b[K')
  }
}

function messageOf({ tool, args = '{}' }: BenchOptions): { readonly method: string; readonly params: Params } {
  if (!tool) return { method: 'tools/list', params: {} }
  try {
    return { method: 'tools/call', params: { name: tool, arguments: JSON.parse(args) as unknown } }
  } catch {
    throw new CommandError('--args must be JSON, such as \'{"text":"hi"}\'', exitCodes.usage)
  }
}

function parsePositive(name: string, text: string, max: number): number {
  const value = Number(text)
  if (!(value > 0 && value <= max))
    throw new CommandError(`--${name} must be a number above 0 and at most ${max}`, exitCodes.usage)
  return value
}
