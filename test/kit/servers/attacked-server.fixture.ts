/**
 * The attacked server: every function that a developer can write is there once as a bug whose text must stay inside.
 */

import type { LogLine, Server, ServerDefinition, ServerOptions } from 'sluice'
import { ask, defineServer, prompt, resource, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { elicitation, idempotency, log } from 'sluice/plugins'
import * as z from 'zod'

/** Part of every exception here, and of no input: if it appears in an answer, an exception's text has leaked. */
export const canary = 'CANARY-51f0'

const bug = (): Error => new TypeError(`${canary}: cannot read /srv/app/secret.ts`)

export interface AttackedServer {
  readonly server: Server
  readonly definition: ServerDefinition
  /** Counts of the tools that ran, by name. */
  readonly runs: Map<string, number>
  readonly log: LogLine[]
}

export function createAttackedServer(runtime: ServerOptions = {}): AttackedServer {
  const runs = new Map<string, number>()
  const lines: LogLine[] = []
  const note = (name: string): void => {
    runs.set(name, (runs.get(name) ?? 0) + 1)
  }
  const definition = defineServer({
    name: 'attacked',
    version: '1.0.0',
    tools: [
      tool({
        name: 'echo',
        description: 'Returns the text',
        input: z.object({ text: z.string() }),
        run({ text }) {
          note('echo')
          return text
        },
      }),
      tool({
        name: 'any',
        description: 'Returns any value as data',
        input: z.object({ value: z.unknown() }),
        run({ value }) {
          note('any')
          return { value }
        },
      }),
      tool({
        name: 'strict',
        description: 'Has strict arguments',
        input: z.object({
          count: z.number().int().min(1).max(10),
          kind: z.enum(['a', 'b']),
          tags: z.array(z.string().max(5)).max(3).optional(),
        }),
        run() {
          note('strict')
          return 'ran'
        },
      }),
      tool({
        name: 'bug',
        description: 'Throws an Error',
        run() {
          note('bug')
          throw bug()
        },
      }),
      tool({
        name: 'bug-late',
        description: 'Rejects with something that is not an Error',
        async run() {
          note('bug-late')
          await null
          throw { message: canary, stack: `${canary}\n    at /srv/app/secret.ts:1:1`, toString: () => canary }
        },
      }),
      tool({
        name: 'bug-output',
        description: 'Violates its own output schema',
        output: z.object({ n: z.number({ error: () => canary }) }),
        run() {
          note('bug-output')
          return { n: Number.NaN }
        },
      }),
      tool({
        name: 'bug-print',
        description: 'Returns an unserializable value',
        run() {
          note('bug-print')
          return [
            {
              type: 'text',
              text: 'x',
              _meta: {
                toJSON: () => {
                  throw bug()
                },
              },
            },
          ]
        },
      }),
      tool({
        name: 'bug-ask',
        description: 'Throws while asking',
        ask: (): { where: ReturnType<typeof ask.form> } => {
          throw bug()
        },
        run: () => 'never',
      }),
      tool({
        name: 'asks',
        description: 'Needs a form',
        ask: () => ({ where: ask.form('Where?', z.object({ region: z.string() })) }),
        run(_, { answers }) {
          note('asks')
          return String(answers.where.region)
        },
      }),
      tool({
        name: 'gated',
        description: 'Needs an approval that cannot be given',
        approval: 'always',
        stateless: true,
        run() {
          note('gated')
          return 'ran'
        },
      }),
      tool({
        name: 'bug-gate',
        description: 'Throws while it decides whether an approval is needed',
        stateless: true,
        approval: () => {
          throw bug()
        },
        run() {
          note('bug-gate')
          return 'ran'
        },
      }),
      tool({
        name: 'scoped',
        description: 'Hidden from most callers',
        scopes: ['secret:read'],
        run() {
          note('scoped')
          return 'ran'
        },
      }),
      tool({
        name: 'routed',
        description: 'Repeats its region as a header',
        input: z.object({
          region: z.string().meta({ 'x-mcp-header': 'Region' }),
          size: z.int().meta({ 'x-mcp-header': 'Size' }).optional(),
        }),
        run({ region }) {
          note('routed')
          return region
        },
      }),
      tool({
        name: 'wait',
        description: 'Runs until it is cancelled',
        run(_, { signal }) {
          note('wait')
          return new Promise((_resolve, reject) => {
            const stop = (): void => {
              note('wait stopped')
              reject(signal.reason)
            }
            if (signal.aborted) stop()
            else signal.addEventListener('abort', stop, { once: true })
          })
        },
      }),
      tool({
        name: 'barrier',
        description: 'Answers when it is the only call left on its connection',
        async run(_, { call }) {
          // This call counts once it waits.
          do await new Promise(setImmediate)
          while ((call.via.connection?.inFlight.size ?? 0) > 1)
          return 'alone'
        },
      }),
    ],
    resources: [
      resource({ uri: 'note://plain', name: 'plain', read: () => 'plain' }),
      resource({
        uri: 'bug://read',
        name: 'bug',
        read() {
          throw bug()
        },
      }),
      resource({
        uri: 'note://{year}/{slug}',
        name: 'notes',
        complete: {
          year: () => ['2025', '2026'],
          slug() {
            throw bug()
          },
        },
        read({ slug }) {
          if (slug === 'bug') throw bug()
          return String(slug)
        },
      }),
    ],
    prompts: [
      prompt({
        name: 'greet',
        description: 'A greeting',
        input: z.object({ name: z.string() }),
        run: ({ name }) => `Hello ${name}`,
      }),
      prompt({
        name: 'bug',
        description: 'Throws',
        run() {
          throw bug()
        },
      }),
    ],
  })
  const keep = (line: LogLine): void => {
    // Enough for the assertions, without filling the memory of a long run.
    if (lines.length < 1000) lines.push(line)
  }
  const server = createServer(definition, {
    ...runtime,
    use: [log({ info: keep, warn: keep, error: keep }), elicitation(), idempotency(), ...(runtime.use ?? [])],
  })
  return { server, definition, runs, log: lines }
}

/** No internal detail may leave: no exception's text, no stack, no path of ours. */
export const internalDetail =
  /CANARY|\n\s+at |\\n\s+at |node_modules|file:\/\/|\/srv\/app|\/packages\/|\.[tj]s:\d|(?:Type|Range|Syntax|Reference)Error|is not a function|Cannot read prop/
