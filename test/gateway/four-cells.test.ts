/**
 * Questions of an upstream reach the client of a call, whatever the era of each: official clients of both generations,
 * on every transport, in front of official servers of both generations, over HTTP and stdio. The upstream works once.
 */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Upstream } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OfficialClient, ServerLocation } from '../kit/clients/official.client.ts'
import { connectV1 } from '../kit/clients/official-v1.client.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'

const programOf = (name: string): string => join(import.meta.dirname, 'upstreams', `${name}.fixture.ts`)
const silent = { info() {}, warn() {}, error() {} }

const upstreams = ['asking-v1', 'asking-v2'].flatMap((program) => ['http', 'stdio'].map((over) => ({ program, over })))
const transports = ['http', 'sse', 'websocket', 'stdio'] as const
const clients = [
  { era: 'legacy', connect: (at: ServerLocation) => connectV1(at) },
  { era: 'legacy', connect: (at: ServerLocation) => connectV2(at, 'legacy') },
  { era: 'modern', connect: (at: ServerLocation) => connectV2(at, { pin: '2026-07-28' }) },
] as const

async function startHttp(program: string): Promise<[url: string, child: ChildProcess]> {
  const child = spawn(process.execPath, [programOf(program), 'http'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}`)))
  })
  return [url, child]
}

let tags = 0

describe.each(upstreams)('$program over $over', ({ program, over }) => {
  const closing: (() => unknown)[] = []
  const places = new Map<string, ServerLocation>()

  beforeAll(async () => {
    const [url, child] = over === 'http' ? await startHttp(program) : [undefined, undefined]
    closing.push(() => child?.kill())
    const settings = { name: 'asking', scope: 'shared', prefix: '' } as const
    const asking: Upstream = url
      ? upstream({ ...settings, url, allowHosts: ['127.0.0.1'] })
      : upstream({ ...settings, command: process.execPath, args: [programOf(program), 'stdio'] })
    const definition = gateway({ name: 'team', version: '1.0.0', upstreams: [asking] })
    const server = createServer(definition, { use: [log(silent)] })
    const serving = await serveHttp(server, { port: 0, sse: sse(), websocket: websocket() })
    closing.unshift(() => serving.close())
    const { host } = new URL(serving.url)
    places.set('http', { transport: 'http', url: serving.url })
    places.set('sse', { transport: 'sse', url: `http://${host}/sse` })
    places.set('websocket', { transport: 'websocket', url: `ws://${host}/ws` })
    const fixture = join(import.meta.dirname, 'gateway-over-stdio.fixture.ts')
    const args = [fixture, ...(url ? [url] : [programOf(program), 'stdio'])]
    places.set('stdio', { transport: 'stdio', command: process.execPath, args, stderr: 'ignore' })
  })
  afterAll(async () => {
    for (const close of closing) await close()
  })

  const cases = transports.flatMap((transport) =>
    clients.filter(({ era }) => era === 'legacy' || transport !== 'sse').map((client) => ({ transport, ...client })),
  )
  test.each(cases)(
    'a $era client over $transport is asked, and the upstream works once',
    async ({ transport, connect }) => {
      const client: OfficialClient = await connect(places.get(transport) as ServerLocation)
      try {
        const messages: unknown[] = []
        client.answers.elicit = ({ message }) => {
          messages.push(message)
          return { action: 'accept', content: { name: 'Ada' } }
        }
        client.answers.sample = () => ({ role: 'assistant', model: 'a', content: { type: 'text', text: 'Hi' } })
        client.answers.roots = () => [{ uri: 'file:///work' }]
        const text = async (name: string): Promise<unknown> => {
          const { content } = await client.call(name, { tag: `tag ${++tags}` })
          return (content as { text: string }[])[0]?.text
        }
        expect(await text('form')).toBe('["accept",{"name":"Ada"}] run 1')
        expect(messages).toEqual(['asking asks: Who?'])
        expect(await text('sample')).toBe('{"type":"text","text":"Hi"} run 1')
        expect(await text('roots')).toBe('[{"uri":"file:///work"}] run 1')
        expect(await text('together')).toBe('[{"name":"Ada"},{"name":"Ada"}] run 1')
        client.answers.elicit = () => ({ action: 'decline' })
        expect(await text('form')).toMatch(/^\["decline",?.*\] run 1$/)
      } finally {
        await client.close()
      }
    },
  )
})
