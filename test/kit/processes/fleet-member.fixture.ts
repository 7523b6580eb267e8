/**
 * One process of a fleet: tools that say which process ran them, on a shared Redis or PostgreSQL. Configured by the
 * environment and run on the build, as examples/fleet.ts is; says where it listens on stdout.
 */

import { apiKeys, ask, authenticate, rateLimit, resource, tool } from 'sluice'
import { createServer, onSignals, serveHttp } from 'sluice/node'
import { health, log } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { z } from 'zod'
import { openShared } from './shared-store.ts'

const env = (name: string): string => process.env[name] ?? ''
const { store, bus, close } = openShared(env('STORE_URL'))
const self = env('SELF')

const silent = { info() {}, warn() {}, error: (line: object) => process.stderr.write(`${JSON.stringify(line)}\n`) }
const keyed = z.object({ key: z.string() })
const name = z.object({ name: z.string() })

/** Waits until another process, or this one, releases the key. */
async function released(key: string, signal: AbortSignal): Promise<void> {
  while ((await store.get(['released', key])) === undefined && !signal.aborted)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

async function nextVersion(key: string): Promise<number> {
  for (;;) {
    const now = await store.get(['memo', key])
    const next = Number(now ?? 0) + 1
    if (await store.swap(['memo', key], now, String(next))) return next
  }
}

const server = createServer(
  {
    name: 'fleet',
    version: '1.0.0',
    tools: [
      tool({ name: 'where', description: 'Which process', run: () => ({ self }) }),
      tool({ name: 'limited', description: 'Which process, a few times', run: () => ({ self }) }),
      tool({
        name: 'work',
        description: 'Takes a while',
        input: z.object({ ms: z.number() }),
        async run({ ms }) {
          await new Promise((resolve) => setTimeout(resolve, ms))
          return { self }
        },
      }),
      tool({
        name: 'hold',
        description: 'Until it is released or cancelled',
        input: keyed,
        timeoutMs: 60_000,
        async run({ key }, { signal, progress }) {
          progress(1)
          signal.addEventListener('abort', () => {
            store.set(['stopped', key], self, 60_000).catch(console.error)
          })
          await store.set(['holding', key], self, 60_000)
          await released(key, signal)
          progress(2)
          return { self }
        },
      }),
      tool({
        name: 'release',
        description: 'Lets go',
        input: keyed,
        async run({ key }) {
          await store.set(['released', key], '', 60_000)
          return { self }
        },
      }),
      tool({
        name: 'look',
        description: 'What a key holds',
        input: z.object({ of: z.string(), key: z.string() }),
        run: async ({ of, key }) => ({ found: (await store.get([of, key])) ?? '' }),
      }),
      tool({
        name: 'greet',
        description: 'Asks for a name',
        ask: () => ({ who: ask.form('Who are you?', name) }),
        run: (_, { answers }) => ({ self, name: answers.who.name }),
      }),
      tool({
        name: 'summarize',
        description: 'Asks a model',
        ask: () => ({
          text: ask.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 5 }),
        }),
        run: (_, { answers }) => ({ self, model: answers.text.model }),
      }),
      tool({
        name: 'touch',
        description: 'Changes the note',
        run(_, { resourceUpdated }) {
          resourceUpdated('note://one')
          return { self }
        },
      }),
      tool({
        name: 'change',
        description: 'Gives a memo its next version',
        input: keyed,
        async run({ key }, { resourceUpdated }) {
          const version = await nextVersion(key)
          resourceUpdated(`memo://${key}`)
          return { self, version }
        },
      }),
      tool({
        name: 'relist',
        description: 'Says that the tools changed',
        run() {
          server.listChanged('tools')
          return { self }
        },
      }),
    ],
    resources: [
      resource({ uri: 'note://one', name: 'one', read: () => 'text' }),
      resource({ uri: 'memo://{key}', name: 'memo', read: ({ key }) => store.get(['memo', String(key)]) }),
    ],
  },
  {
    store,
    bus,
    secret: 'the same in every process of it',
    use: [
      log(silent),
      health(),
      rateLimit({
        burst: 100_000,
        perSecond: 100_000,
        tools: { limited: { burst: 20, perSecond: 0.001 } },
      }),
      env('KEYS') !== '' &&
        authenticate({ verifiers: [apiKeys(store, { bus })], publicMethods: ['initialize', 'ping'] }),
    ],
  },
)
const serving = await serveHttp(server, {
  port: Number(env('PORT')),
  hosts: env('HOST').split(' '),
  sse: sse(),
  websocket: websocket(),
})
onSignals(serving, {
  noticeMs: Number(env('NOTICE_MS') || 1_500),
  graceMs: Number(env('GRACE_MS') || 10_000),
  flush: close,
})
process.stdout.write('ready\n')
