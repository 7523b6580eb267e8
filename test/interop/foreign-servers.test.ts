/** `sluice/client` against servers that others wrote: each over every transport it has, in every revision it speaks. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { Client, ClientOptions, Transport } from 'sluice/client'
import { connect, fromSdkTransport, httpTransport, ServerError, sseTransport } from 'sluice/client'
import { createNodeSender, stdioTransport } from 'sluice/client-node'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installFolder } from '../kit/processes/npm-packages.ts'
import { build } from './foreign/sdk-v1.fixture.ts'

type Revision = NonNullable<ClientOptions['revision']>
const legacy: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

interface Row {
  readonly name: string
  readonly over: 'stdio' | 'http' | 'sse'
  readonly args: readonly string[]
  readonly revisions: readonly Revision[]
  /** What it answers to a client that offers its newest; by default the last of `revisions`. */
  readonly offers?: Revision
  /** The first revision in which it can ask; by default the first that has forms. */
  readonly asksSince?: Revision
  /** Tools it has besides `echo`. */
  readonly has: readonly ('steps' | 'ask' | 'wait')[]
  /** What it prints may name another place than the one for this transport. */
  address?(printed: string): string
}

const script = (name: string, ...args: readonly string[]): readonly string[] => [
  join(import.meta.dirname, 'foreign', `${name}.fixture.ts`),
  ...args,
]
const full = ['steps', 'ask', 'wait'] as const

const lite = { revisions: ['2025-03-26', '2025-06-18'], offers: '2025-03-26', has: ['steps'] } as const

const rows: readonly Row[] = [
  ...(['stdio', 'http', 'sse'] as const).map(
    (over): Row => ({ name: 'SDK v1', over, args: script('sdk-v1', over), revisions: legacy, has: full }),
  ),
  // Progress and questions need a stream.
  { name: 'SDK v1, JSON answers', over: 'http', args: script('sdk-v1', 'json'), revisions: legacy, has: [] },
  ...(['stdio', 'http'] as const).map(
    (over): Row => ({
      name: 'SDK v2',
      over,
      args: script('sdk-v2', over),
      revisions: [...legacy, '2026-07-28'],
      has: full,
      // Its HTTP handler keeps no sessions, so a server of an earlier revision cannot receive answers.
      ...(over === 'http' && { asksSince: '2026-07-28' }),
    }),
  ),
  { name: 'FastMCP', over: 'stdio', args: script('fastmcp', 'stdio'), revisions: legacy, has: ['steps'] },
  { name: 'FastMCP', over: 'http', args: script('fastmcp', 'http'), revisions: legacy, has: ['steps'] },
  {
    name: 'FastMCP',
    over: 'sse',
    args: script('fastmcp', 'http'),
    revisions: legacy,
    has: ['steps'],
    address: (printed) => printed.replace(/mcp$/, 'sse'),
  },
  { name: 'mcp-lite', over: 'http', args: script('mcp-lite'), ...lite },
  {
    name: 'mcp-lite, stateless',
    over: 'http',
    args: script('mcp-lite', 'stateless'),
    ...lite,
  },
]

const sender = createNodeSender()
afterAll(() => sender.close())

/** Starts a program that prints an address, or does not, if it serves a pipe. */
async function start({ args, over, address = (printed) => printed }: Row): Promise<[() => Transport, ChildProcess?]> {
  if (over === 'stdio') return [() => stdioTransport({ command: process.execPath, args })]
  const child = spawn(process.execPath, [...args, String(await freePort())], { stdio: ['ignore', 'pipe', 'ignore'] })
  const printed = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (/^http:\S+$/.test(line)) resolve(line)
    })
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)))
  })
  const options = { sender: sender.send }
  return [() => (over === 'http' ? httpTransport : sseTransport)(address(printed), options), child]
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const echoes = async (client: Client): Promise<void> => {
  const names: unknown[] = []
  for await (const { name } of client.tools()) names.push(name)
  expect(names).toContain('echo')
  const answers = await Promise.all(['a', 'ü 👋', 'c'].map((text) => client.callTool('echo', { text })))
  expect(answers.map(({ content }) => content)).toEqual(
    ['a', 'ü 👋', 'c'].map((text) => [expect.objectContaining({ type: 'text', text })]),
  )
}

describe.each(rows)('$name over $over', (row) => {
  let open: () => Transport
  let child: ChildProcess | undefined
  beforeAll(async () => {
    ;[open, child] = await start(row)
  })
  afterAll(() => {
    child?.kill()
  })
  async function opened(options: ClientOptions = {}): Promise<Client> {
    const client = await connect(open(), options)
    onTestFinished(() => client.close())
    return client
  }

  test('a common revision is found, and remembered', async () => {
    const eras = new Map()
    const newest = row.offers ?? row.revisions.at(-1)
    expect((await opened({ eras })).agreement.revision).toBe(newest)
    expect([...eras.values()]).toEqual([newest === '2026-07-28' ? 'modern' : 'legacy'])
    await echoes(await opened({ eras }))
  })
  test('a wrong verdict is corrected', async () => {
    const wrong = row.revisions.includes('2026-07-28') ? 'legacy' : 'modern'
    const eras = { get: () => wrong, set: () => {} } as const
    await echoes(await opened({ eras }))
  })
  test.each(row.revisions)('%s is spoken', async (revision) => {
    const client = await opened({ revision })
    expect(client.agreement.revision).toBe(revision)
    await echoes(client)
    const unknown = client.callTool('nothing')
    // Some servers answer with an error, some with a result that says so.
    await unknown.then(
      (result) => expect(result).toMatchObject({ isError: true }),
      (thrown) => expect(thrown).toBeInstanceOf(ServerError),
    )
  })
  test.runIf(row.has.includes('steps')).each(row.revisions)('progress arrives on %s', async (revision) => {
    const client = await opened({ revision })
    const seen: unknown[] = []
    const result = await client.callTool('steps', {}, { onProgress: ({ progress }) => seen.push(progress) })
    expect(result['content']).toMatchObject([{ text: 'done' }])
    expect(seen).toEqual([1, 2, 3])
  })
  test.runIf(row.has.includes('ask')).each(row.revisions.filter((name) => name >= (row.asksSince ?? '2025-06-18')))(
    'a form is answered on %s',
    async (revision) => {
      const asked: unknown[] = []
      const client = await opened({
        revision,
        handlers: {
          form({ message }) {
            asked.push(message)
            return { action: 'accept', content: { name: 'Ada' } }
          },
        },
      })
      expect((await client.callTool('ask'))['content']).toMatchObject([{ text: 'accept Ada' }])
      expect(asked).toEqual(['Who?'])
    },
  )
  test.runIf(row.has.includes('wait'))('a call is cancelled, and the connection goes on', async () => {
    const client = await opened()
    const controller = new AbortController()
    const waiting = client.callTool('wait', {}, { signal: controller.signal })
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' })
    await echoes(client)
  })
})

describe('server-everything', () => {
  const folder = join(
    installFolder('mcp-servers'),
    'node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  )
  /** It takes its port from the environment and says so on stderr or stdout. */
  async function serve(over: 'streamableHttp' | 'sse'): Promise<string> {
    const port = await freePort()
    const child = spawn(process.execPath, [folder, over], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'pipe',
    })
    onTestFinished(() => {
      child.kill()
    })
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on('line', (line) => {
          if (/listening|running/i.test(line)) resolve()
        })
      child.once('exit', (code) => reject(new Error(`server-everything ended with ${code}`)))
    })
    return `http://localhost:${port}/${over === 'sse' ? 'sse' : 'mcp'}`
  }
  const local = createNodeSender()
  afterAll(() => local.close())
  const ways: { readonly [over: string]: () => Promise<Transport> } = {
    stdio: async () => stdioTransport({ command: process.execPath, args: [folder, 'stdio'] }),
    http: async () => httpTransport(await serve('streamableHttp'), { sender: local.send }),
    sse: async () => sseTransport(await serve('sse'), { sender: local.send }),
  }

  test.each(Object.entries(ways))('over %s', async (_over, open) => {
    const seen: unknown[] = []
    const client = await connect(await open(), {
      handlers: {
        form: () => ({ action: 'accept', content: { name: 'Ada' } }),
        sampling: () => ({ role: 'assistant', model: 'a-model', content: { type: 'text', text: 'In short' } }),
        roots: () => ({ roots: [{ uri: 'file:///a', name: 'a' }] }),
      },
    })
    onTestFinished(() => client.close())
    const names: unknown[] = []
    for await (const { name } of client.tools()) names.push(name)
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'trigger-sampling-request', 'trigger-long-running-operation']),
    )
    expect(await client.callTool('echo', { message: 'hi' })).toMatchObject({ content: [{ text: 'Echo: hi' }] })
    const sampled = await client.callTool('trigger-sampling-request', { prompt: 'A story', maxTokens: 10 })
    expect(JSON.stringify(sampled)).toContain('In short')
    await client.callTool(
      'trigger-long-running-operation',
      { duration: 0.2, steps: 2 },
      { onProgress: ({ progress }) => seen.push(progress) },
    )
    expect(seen).toEqual([1, 2])
    for await (const { uri } of client.resources()) {
      expect(await client.request('resources/read', { uri })).toHaveProperty('contents')
      break
    }
    const prompts: unknown[] = []
    for await (const { name } of client.prompts()) prompts.push(name)
    expect(prompts.length).toBeGreaterThan(0)
  })
})

test('a server of SDK v1 in this process is reached through its own transport', async () => {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await build().connect(far as Parameters<ReturnType<typeof build>['connect']>[0])
  const client = await connect(fromSdkTransport(near))
  onTestFinished(() => client.close())
  await echoes(client)
})
