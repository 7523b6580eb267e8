/**
 * Every member of a rule, at every level, as a real client sees it. The members come from the schema of the configuration,
 * so a new one without a row here fails.
 */

import type { Client } from 'sluice/client'
import { expect, test } from 'vitest'
import { allOf } from '../../../test/gateway/kit.ts'
import type { UpstreamRuleSettings } from '../src/config/schema.ts'
import { toJsonSchema } from '../src/config/schema.ts'
import { aFolder } from './command.ts'
import {
  anUpstream,
  behind,
  type HoldingUpstream,
  inputSchema,
  type RulesHost,
  rows,
  serveRules,
} from './rules-host.ts'

type Members = { readonly [member: string]: unknown }
type Upstream = HoldingUpstream

/** A call of a tool, for which the rule applies or not. */
interface Cell {
  readonly client: Client
  /** The same caller, with the scope `write`. `undefined` for callers that have no such key. */
  readonly writer: Client | undefined
  /** The same caller, where the rule applies to every call. */
  readonly limited: Client
  readonly tool: 'echo' | 'other'
  readonly applies: boolean
  readonly upstream: Upstream
  readonly host: RulesHost['host']
}

const args = { text: 'hi', mode: 'slow' }
const entryOf = async (client: Client, name: string): Promise<Members | undefined> =>
  (await allOf(client.tools())).find((tool) => tool['name'] === name)
const sentOf = ({ raw }: Upstream): unknown => raw.requests.findLast(({ method }) => method === 'tools/call')?.params
/** Returns the text of an answer, or of the refusal. */
const textOf = async (answer: Promise<unknown>): Promise<string> =>
  JSON.stringify(await answer.catch((thrown: unknown) => String(thrown)))

/** Each member, and its effect. A cell to which the rule does not apply must be as without a rule. */
const members: {
  readonly [member: string]: { readonly rule: UpstreamRuleSettings; check(cell: Cell): Promise<void> }
} = {
  allow: {
    rule: { allow: false },
    async check({ client, tool, applies }) {
      expect((await entryOf(client, tool)) === undefined).toBe(applies)
      const call = textOf(client.callTool(tool, args))
      if (applies) expect(await call).toContain('Unknown tool')
      else expect(await call).toContain('rows')
    },
  },
  rename: {
    rule: { rename: 'my_*' },
    async check({ client, tool, applies, upstream }) {
      const [shown, hidden] = applies ? [`my_${tool}`, tool] : [tool, `my_${tool}`]
      expect(await entryOf(client, shown)).toBeDefined()
      expect(await entryOf(client, hidden)).toBeUndefined()
      await client.callTool(shown, args)
      expect(sentOf(upstream)).toMatchObject({ name: tool, arguments: args })
      expect(await textOf(client.callTool(hidden, args))).toContain('Unknown tool')
    },
  },
  describe: {
    rule: { describe: 'What it really does' },
    async check({ client, tool, applies }) {
      const { description } = (await entryOf(client, tool)) ?? {}
      expect(description).toBe(applies ? 'What it really does' : `Does ${tool}`)
    },
  },
  fixed: {
    rule: { fixed: { mode: 'safe' } },
    async check({ client, tool, applies, upstream }) {
      const { inputSchema: listed } = (await entryOf(client, tool)) ?? {}
      if (!applies) return expect(listed).toEqual(inputSchema)
      expect(JSON.stringify(listed)).not.toContain('mode')
      await client.callTool(tool, { text: 'hi' })
      expect(sentOf(upstream)).toMatchObject({ arguments: { text: 'hi', mode: 'safe' } })
      // Not even the same value may be sent.
      for (const mode of ['slow', 'safe'])
        expect(await client.callTool(tool, { text: 'late', mode })).toMatchObject({ isError: true })
      expect(sentOf(upstream)).toMatchObject({ arguments: { text: 'hi' } })
    },
  },
  defaults: {
    rule: { defaults: { mode: 'quick' } },
    async check({ client, tool, applies, upstream }) {
      const { inputSchema: listed } = (await entryOf(client, tool)) ?? {}
      const seen = { properties: { text: {}, mode: { default: 'quick' } }, required: ['text'] }
      if (applies) expect(listed).toMatchObject(seen)
      else expect(listed).toEqual(inputSchema)
      await client.callTool(tool, { text: 'hi' })
      expect((sentOf(upstream) as Members)['arguments']).toEqual(
        applies ? { text: 'hi', mode: 'quick' } : { text: 'hi' },
      )
      await client.callTool(tool, args)
      expect(sentOf(upstream)).toMatchObject({ arguments: args })
    },
  },
  scopes: {
    rule: { scopes: ['write'] },
    async check({ client, writer, tool, applies }) {
      expect((await entryOf(client, tool)) === undefined).toBe(applies)
      expect((await textOf(client.callTool(tool, args))).includes('Unknown tool')).toBe(applies)
      if (writer) expect(await writer.callTool(tool, args)).toMatchObject({ structuredContent: { rows } })
    },
  },
  approval: {
    rule: { approval: 'always' },
    async check({ client, tool, applies }) {
      expect((await textOf(client.callTool(tool, args))).includes('approval_required')).toBe(applies)
    },
  },
  questions: {
    rule: { approval: 'always', questions: 'relay' },
    async check({ client, tool, applies, host }) {
      const { _meta } = await client.callTool(tool, args)
      const ticket = (_meta as { 'dev.sluice/approval'?: { request_id: string } } | undefined)?.['dev.sluice/approval']
      const { effect } = (ticket && (await host.approvals.get(ticket.request_id))) ?? {}
      expect(effect?.['Questions'] !== undefined).toBe(applies)
    },
  },
  timeoutMs: {
    rule: { timeoutMs: 40 },
    async check({ client, limited, tool, applies, upstream }) {
      const held = { ...args, text: 'hold' }
      const call = textOf(client.callTool(tool, held))
      if (applies) expect(await call).toContain('No answer within 40 ms')
      else {
        // It outlives a call that the rule ends.
        await expect.poll(upstream.held).toBe(1)
        expect(await textOf(limited.callTool(tool, held))).toContain('No answer within 40 ms')
      }
      upstream.release()
      if (!applies) expect(await call).toContain('rows')
    },
  },
  rate: {
    rule: { rate: { burst: 1, perSecond: 0.001 } },
    async check({ client, tool, applies }) {
      await client.callTool(tool, args)
      const second = await textOf(client.callTool(tool, args))
      expect(second).toContain(applies ? 'Too many calls' : 'rows')
    },
  },
  maxResultLength: {
    rule: { maxResultLength: 30 },
    async check({ client, tool, applies }) {
      const answer = await textOf(client.callTool(tool, args))
      expect(answer).toContain(applies ? 'larger than 30 characters' : 'rows')
    },
  },
  format: {
    rule: { format: 'toon' },
    async check({ client, tool, applies }) {
      const { content } = await client.callTool(tool, args)
      const text = applies ? 'rows[3]{id,name}:\n  1,a\n  2,b\n  3,c' : JSON.stringify({ rows })
      expect(content).toMatchObject([{ text }])
    },
  },
}

/** The levels: the rule's selectors, and the calls to which it applies. */
const levels: {
  readonly [level: string]: {
    selectors(keys: RulesHost['keys']): UpstreamRuleSettings
    applies(tool: string, caller: string): boolean
  }
} = {
  upstream: { selectors: () => ({}), applies: () => true },
  tool: { selectors: () => ({ tools: 'echo' }), applies: (tool) => tool === 'echo' },
  tenant: { selectors: () => ({ tenants: ['acme'] }), applies: (_, caller) => caller === 'ann' },
  // A key by its id, and a caller by its subject.
  key: {
    selectors: ({ ann }) => ({ callers: [ann?.id ?? '', 'writer'] }),
    applies: (_, caller) => caller === 'ann',
  },
}

const selectors = ['tools', 'tenants', 'callers']
const schema = toJsonSchema() as {
  properties: {
    servers: { additionalProperties: { properties: { rules: { items: { properties: Members } } } } }
  }
}
const inSchema = Object.keys(schema.properties.servers.additionalProperties.properties.rules.items.properties)

test('the matrix has a row for every member of the schema', () => {
  expect(Object.keys(members).sort()).toEqual(inSchema.filter((member) => !selectors.includes(member)).sort())
})

test.each(inSchema.filter((member) => !selectors.includes(member)))('%s, at every level', async (member) => {
  const row = members[member]
  if (!row) throw new Error('no row')
  const upstream = await anUpstream()
  const served = await serveRules(aFolder(), (keys) => ({
    servers: Object.fromEntries(
      Object.entries(levels).map(([level, each]) => [
        level,
        behind(upstream.raw, { ...each.selectors(keys), ...row.rule }),
      ]),
    ),
  }))
  const { host } = served
  for (const [level, { applies }] of Object.entries(levels))
    for (const caller of ['ann', 'bob']) {
      const [client, limited] = [await served.client(caller, level), await served.client(caller, 'upstream')]
      const writer = caller === 'ann' ? await served.client('writer', level) : undefined
      for (const tool of ['echo', 'other'] as const) {
        const cell = { client, limited, writer, tool, applies: applies(tool, caller), upstream, host }
        try {
          await row.check(cell)
        } catch (thrown) {
          throw new Error(`level ${level}, caller ${caller}, tool ${tool}: ${String(thrown)}`, { cause: thrown })
        }
      }
    }
})
