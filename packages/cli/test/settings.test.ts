/** Settings of the configuration that change what clients see. */

import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import type { OpenedServer } from 'sluice'
import { defineServer, tool } from 'sluice'
import { nodeClock } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { overStdio, programOf, textOf } from '../../../test/kit/clients/binary.client.ts'
import { loadConfig } from '../src/config/load.ts'
import { type Config, configSchema } from '../src/config/schema.ts'
import { createHost } from '../src/host/host.ts'
import { runServers, toServer } from '../src/host/run.ts'
import { openServer } from '../src/host/servers.ts'
import { aFolder, main, sluice } from './command.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }
const never = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
const input = z.object({})
const definition = defineServer({
  name: 'x',
  version: '1',
  tools: [
    tool({ name: 'slow', description: 'd', input, run: (_, { signal }) => never(signal) }),
    tool({ name: 'hasty', description: 'd', input, timeoutMs: 10, run: (_, { signal }) => never(signal) }),
    tool({ name: 'who', description: 'd', input, scopes: ['repo:read'], run: (_, { caller }) => caller.subject }),
  ],
})
const openedServer: OpenedServer = { definition, state: 'ready', close: async () => {} }

const configured = (settings: object): Config =>
  configSchema.parse({ data: aFolder(), store: 'memory', console: null, port: 0, ...settings })

const call = (name: string): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
})

test('errors: json-rpc gives earlier clients the codes of plain JSON-RPC servers', async () => {
  for (const [errors, code] of [
    ['json-rpc', -32601],
    ['mcp', -32602],
  ] as const) {
    const config = configured({ errors, authenticate: null })
    const host = await createHost(config, { env: {}, logger, owner: 'you' })
    const server = toServer({ name: 'x', opened: openedServer }, host, config)
    expect(await server.handle(call('none'))).toMatchObject({ error: { code } })
  }
})

test('timeoutMs is the deadline of tools that set none', async () => {
  const config = configured({ timeoutMs: 50, authenticate: null })
  const host = await createHost(config, { env: {}, logger, owner: 'you' })
  const server = toServer({ name: 'x', opened: openedServer }, host, config)
  expect(JSON.stringify(await server.handle(call('slow')))).toContain('No answer within 50 ms')
  expect(JSON.stringify(await server.handle(call('hasty')))).toContain('No answer within 10 ms')
})

interface PostResult {
  readonly status: number
  readonly body: string
}
const post = (url: string, host: string, body: object): Promise<PostResult> =>
  new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const sent = request(url, { method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

async function serving(settings: object, named: readonly { readonly name: string; readonly opened: OpenedServer }[]) {
  const config = configured({ authenticate: null, ...settings })
  const host = await createHost(config, { env: {}, logger, owner: 'you' })
  const running = await runServers(named, host, config)
  onTestFinished(() => running.serving.close())
  return running.serving.urls
}

test('knowledge serves a plain POST without a handshake, beside clients with a session; other servers require one', async () => {
  const folder = aFolder()
  const knowledge = await openServer({ name: 'knowledge', folder, env: {}, logger, clock: nodeClock })
  const urls = await serving({}, [
    { name: 'knowledge', opened: knowledge },
    { name: 'x', opened: openedServer },
  ])
  const at = (name: string): string => urls[`/${name}`] ?? ''
  const plain = await post(at('knowledge'), new URL(at('knowledge')).host, list)
  expect([plain.status, plain.body]).toEqual([200, expect.stringContaining('search_articles')])
  expect((await post(at('x'), new URL(at('x')).host, list)).status).toBe(400)
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  }
  expect(
    (
      await fetch(at('knowledge'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(initialize),
      })
    ).headers.get('mcp-session-id'),
  ).toBeTruthy()
})

test('with sessions: null every request is independent', async () => {
  const urls = await serving({ sessions: null }, [{ name: 'x', opened: openedServer }])
  const url = urls['/x'] ?? ''
  expect((await post(url, new URL(url).host, list)).status).toBe(200)
})

test('hosts adds to this machine’s names, accepts names without a port, and the printed URL works', async () => {
  const urls = await serving({ hosts: ['mcp.example.com'], host: '0.0.0.0', sessions: null }, [
    { name: 'x', opened: openedServer },
  ])
  const url = urls['/x'] ?? ''
  const { port, host } = new URL(url)
  expect(host).toBe(`127.0.0.1:${port}`)
  for (const name of [host, `localhost:${port}`, 'mcp.example.com', `mcp.example.com:${port}`])
    expect((await post(url, name, list)).status, name).toBe(200)
  for (const name of ['evil.example', `evil.example:${port}`, 'localhost:1', `mcp.example.com.evil.example:${port}`])
    expect((await post(url, name, list)).status, name).toBe(403)
})

test('impliedScopes and subject apply to the callers of an issuer', async () => {
  const folder = aFolder()
  const secret = 'a secret of an issuer, long enough for HS256'
  writeFileSync(join(folder, 'issuer.key'), secret)
  const jwt = [
    { issuer: 'https://id.example.com', audience: 'x', secretFile: join(folder, 'issuer.key'), algorithms: ['HS256'] },
  ]
  const token = await new SignJWT({ email: 'ann@example.com', scope: 'repo', tenants: 'acme' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('https://id.example.com')
    .setAudience('x')
    .setSubject('42')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(secret))
  const via = {
    transport: 'http',
    peer: '127.0.0.1',
    header: (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined),
  } as const
  const callWith = async (authenticate: object): Promise<string> => {
    const config = configured({ authenticate })
    const host = await createHost(config, { env: {}, logger, owner: 'you' })
    return JSON.stringify(
      await toServer({ name: 'x', opened: openedServer }, host, config).handle(call('who'), { via }),
    )
  }
  const impliedScopes = { repo: ['repo:read'] }
  expect(await callWith({ jwt })).toContain('error')
  expect(await callWith({ jwt, impliedScopes })).toContain('https://id.example.com 42')
  const named = jwt.map((each) => ({ ...each, subject: 'email' }))
  expect(await callWith({ jwt: named, impliedScopes })).toContain('"ann@example.com"')
})

test('SLUICE_DEBUG and SLUICE_TENANT are not settings; SLUICE_DEBUG adds the stack of a failure', async () => {
  const env = { SLUICE_DEBUG: '1', SLUICE_TENANT: 'alice' }
  expect((await loadConfig({ cwd: aFolder(), env })).origins.size).toBe(0)
  const cwd = aFolder()
  writeFileSync(join(cwd, 'server.mjs'), 'throw new TypeError("no such thing")')
  const args = ['serve', './server.mjs', '--stdio']
  const message = 'server.mjs:1: no such thing\n    throw new TypeError("no such thing")\n'
  expect((await sluice(cwd, args)).err).toBe(message)
  expect((await sluice(cwd, args, { SLUICE_DEBUG: '1' })).err).toMatch(/TypeError: no such thing\n +at /)
})

test('SLUICE_TENANT chooses the tenant of a process on stdio', { timeout: 120_000 }, async () => {
  const { execFileSync } = await import('node:child_process')
  const data = aFolder()
  for (const tenant of ['alice', 'default'])
    execFileSync(process.execPath, [programOf('memory'), 'import', '--tenant', tenant, '--data', data], {
      input: `{"type":"memory","text":"an elephant of ${tenant}"}`,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
  const found = async (env: Record<string, string>): Promise<string> => {
    const args = ['serve', 'memory', '--stdio', '--data', data]
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    const client = new Client({ name: 'a-client', version: '1.0.0' })
    onTestFinished(() => client.close())
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [main, ...args], env, cwd: data, stderr: 'ignore' }),
    )
    return textOf(client, 'search_memory', { query: 'elephant' })
  }
  expect(await found({ SLUICE_TENANT: 'alice' })).toContain('an elephant of alice')
  expect(await found({})).toContain('an elephant of default')
  expect(await textOf(await overStdio('memory', data), 'search_memory', { query: 'elephant' })).not.toContain('alice')
})
