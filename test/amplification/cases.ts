/** A server with something for every method, and for each method the messages known to cost most for their size. */

import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import type { Params, Server } from 'sluice'
import { createServer, defineServer, prompt, resource, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import * as v from 'valibot'
import * as z from 'zod'
import { modernRequest, request } from '../kit/clients/valid-messages.ts'

/** As many kinds of objects as a large tool has; each wrong item is compared with all of them. */
const kinds = ['a', 'b', 'c', 'd', 'e', 'f']
const jsonKinds = kinds.map((kind) => ({
  type: 'object' as const,
  properties: { kind: { const: kind }, text: { type: 'string' as const }, size: { type: 'number' as const } },
  required: ['kind', 'text', 'size'],
}))

const valibotForms = v.object({
  list: v.array(v.union([v.pipe(v.string(), v.email()), v.pipe(v.string(), v.url()), v.pipe(v.string(), v.uuid())])),
})

const lists = {
  zod: z.object({
    list: z.array(
      z.union(kinds.map((kind) => z.object({ kind: z.literal(kind), text: z.string(), size: z.number() }))),
    ),
  }),
  /** Formats that the published schema names and that only the library can check. */
  zodForms: z.object({ list: z.array(z.union([z.email(), z.url(), z.uuid()])) }),
  valibotForms: toStandardJsonSchema(valibotForms),
  valibotPiped: toStandardJsonSchema(v.pipe(valibotForms, v.description('A list'))),
  arktypeForms: type({ list: type('string.email').or('string.url').or('string.uuid').array() }),
  valibot: toStandardJsonSchema(
    v.object({
      list: v.array(
        v.union(kinds.map((kind) => v.object({ kind: v.literal(kind), text: v.string(), size: v.number() }))),
      ),
    }),
  ),
  arktype: type({ list: type({ kind: "'a'|'b'", text: 'string' }).or({ kind: "'c'|'d'", size: 'number' }).array() }),
  json: jsonSchema({
    type: 'object',
    properties: { list: { type: 'array', items: { anyOf: jsonKinds } } },
    required: ['list'],
  }),
}

export function amplified(): Server {
  const done = (): string => 'done'
  const description = 'Takes a list'
  return createServer(
    defineServer({
      name: 'amplified',
      version: '1',
      tools: [
        tool({
          name: 'echo',
          description: 'Counts',
          input: z.object({ text: z.string() }),
          run: ({ text }) => `${text.length}`,
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
        tool({ name: 'zod', description, input: lists.zod, run: done }),
        tool({ name: 'zod-forms', description, input: lists.zodForms, run: done }),
        tool({ name: 'valibot-forms', description, input: lists.valibotForms, run: done }),
        tool({ name: 'valibot-piped', description, input: lists.valibotPiped, run: done }),
        tool({ name: 'arktype-forms', description, input: lists.arktypeForms, run: done }),
        tool({ name: 'valibot', description, input: lists.valibot, run: done }),
        tool({ name: 'arktype', description, input: lists.arktype, run: done }),
        tool({ name: 'json', description, input: lists.json, run: done }),
      ],
      resources: Array.from({ length: 30 }, (_, at) =>
        resource({ uri: `note://{+path}/${at}`, name: `n${at}`, complete: { path: () => ['a'] }, read: done }),
      ),
      prompts: [prompt({ name: 'prompt', description: 'Says', input: z.object({ text: z.string() }), run: done })],
    }),
  )
}

/** An ordinary call of about as many bytes. */
export const ordinary = (bytes: number): string => {
  const empty = JSON.stringify(modernRequest(1, 'tools/call', { name: 'echo', arguments: { text: '' } }))
  return JSON.stringify(
    modernRequest(1, 'tools/call', {
      name: 'echo',
      arguments: { text: 'x'.repeat(Math.max(0, bytes - empty.length)) },
    }),
  )
}

export interface Case {
  readonly method: string
  readonly name: string
  /** The message for its headers, if the transport has some. */
  readonly like: Params
  readonly text: string
}

const million = 1_000_000
/** Just within the limits of a message. */
const maxMembers = 9_900
const items = <T>(count: number, item: T): readonly T[] => Array.from({ length: count }, () => item)
const members = (count: number): Params => Object.fromEntries(items(count, 0).map((_, at) => [`m${at}`, at]))

const written = (name: string, like: Params): Case => ({
  ...{ name, like, method: String(like['method']) },
  text: JSON.stringify(like),
})
const call = (tool: string, name: string, list: readonly unknown[]): Case =>
  written(`${tool}: ${name}`, modernRequest(1, 'tools/call', { name: tool, arguments: { list } }))
/** Text that JSON.stringify would not write: `TEXT` marks its position. */
const raw = (name: string, text: string): Case => {
  const like = modernRequest(1, 'tools/call', { name: 'echo', arguments: { text: 'TEXT' } })
  return { name, like, method: 'tools/call', text: JSON.stringify(like).replace('"TEXT"', () => text) }
}

export const cases: readonly Case[] = [
  ...['zod', 'valibot', 'arktype', 'json'].flatMap((tool) => [
    call(tool, 'empty objects', items(maxMembers / 2, {})),
    call(tool, 'texts', items(maxMembers, '')),
    call(tool, 'a wrong member each', items(maxMembers / 4, { kind: 'a', text: 1, size: '' })),
    call(tool, 'right', items(maxMembers / 5, { kind: 'a', text: '', size: 1 })),
  ]),
  ...['zod-forms', 'valibot-forms', 'valibot-piped', 'arktype-forms'].map((tool) =>
    call(tool, 'texts of an unknown format', items(maxMembers, '')),
  ),
  raw('a million bytes of objects', `[${'{},'.repeat(million / 3)}{}]`),
  raw('a million brackets', '['.repeat(million)),
  raw('a number of a million digits', `1.${'0'.repeat(million)}1`),
  raw('escapes', `"${String.raw`\u0000`.repeat(million / 6)}"`),
  raw('backslashes', `"${'\\\\'.repeat(million / 2)}"`),
  raw('half of a surrogate pair, many times', `"${String.raw`\ud800`.repeat(million / 6)}"`),
  raw('one name, many times', `{${'"a":1,'.repeat(maxMembers)}"a":1}`),
  raw('text that never ends', `"${'x'.repeat(million)}`),
  written('a name of a million', modernRequest(1, 'tools/call', { name: 'x'.repeat(million), arguments: {} })),
  written('a URI of a million', modernRequest(1, 'resources/read', { uri: `note://${'ü'.repeat(million / 2)}` })),
  written('a URI that 30 templates read', modernRequest(1, 'resources/read', { uri: `note://${'ü/'.repeat(2_040)}x` })),
  written('a URI of encoded bytes', modernRequest(1, 'resources/read', { uri: `note://${'%41'.repeat(1_360)}` })),
  written('a URI that 30 templates read', request(1, 'resources/subscribe', { uri: `note://${'ü/'.repeat(2_040)}x` })),
  written('an unknown URI', request(1, 'resources/unsubscribe', { uri: 'x'.repeat(4_000) })),
  written(
    'more URIs than a subscription holds',
    modernRequest(1, 'subscriptions/listen', { notifications: { resourceSubscriptions: items(1_001, 'note://a/1') } }),
  ),
  written('a cursor of a million', modernRequest(1, 'tools/list', { cursor: 'Jw'.repeat(million / 2) })),
  written('a cursor that is an object', modernRequest(1, 'tools/list', { cursor: members(maxMembers) })),
  written('a cursor of a million', modernRequest(1, 'resources/list', { cursor: 'Jw'.repeat(million / 2) })),
  written('a cursor of a million', modernRequest(1, 'resources/templates/list', { cursor: 'Jw'.repeat(million / 2) })),
  written('a cursor of a million', modernRequest(1, 'prompts/list', { cursor: 'Jw'.repeat(million / 2) })),
  written(
    'ten thousand arguments',
    modernRequest(1, 'prompts/get', { name: 'prompt', arguments: members(maxMembers) }),
  ),
  written(
    'ten thousand chosen arguments',
    modernRequest(1, 'completion/complete', {
      ref: { type: 'ref/resource', uri: 'note://{+path}/1' },
      argument: { name: 'path', value: '' },
      context: { arguments: Object.fromEntries(items(maxMembers, '').map((_, at) => [`m${at}`, 'x'])) },
    }),
  ),
  written('ten thousand members', modernRequest(1, 'server/discover', members(maxMembers))),
  written('ten thousand members', request(1, 'ping', members(maxMembers))),
  written('a level of a million', request(1, 'logging/setLevel', { level: 'x'.repeat(million) })),
  written(
    'ten thousand capabilities',
    request(1, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: members(maxMembers),
      clientInfo: { name: 'x', version: '1' },
    }),
  ),
  written('a name of a million', modernRequest(1, 'x'.repeat(million))),
  written('an envelope of ten thousand', modernRequest(1, 'tools/list', { _meta: members(maxMembers) })),
]
