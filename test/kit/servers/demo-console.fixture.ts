/** A day in a shop, for screenshots and for trying the console: three servers, callers, tickets and traffic. */

import { setTimeout as sleep } from 'node:timers/promises'
import { defineServer, fail, memoryStore, tool } from 'sluice'
import * as z from 'zod'
import type { ConsoleFixture, ConsoleFixtureOptions } from './console.fixture.ts'
import { adjustableClock, openConsoleFixture, send, shopDefinition } from './console.fixture.ts'

/** Mostly fast, sometimes slow; the same every time. */
let turn = 0
async function simulateWork(ms: number): Promise<void> {
  turn++
  await sleep(ms + ((turn * 37) % 11) + (turn % 41 === 0 ? ms * 6 : 0))
}

const warehouse = defineServer({
  name: 'warehouse',
  version: '0.9.0',
  title: 'Warehouse',
  description: 'What lies where, and what to order',
  tools: [
    tool({
      name: 'find_stock',
      description: 'Where an article lies and how many there are',
      input: z.object({ article: z.string() }),
      annotations: { readOnlyHint: true },
      async run({ article }) {
        await simulateWork(9)
        if (article === 'ghost') throw fail('There is no such article')
        return { article, shelf: 'B7', count: article.length * 3 }
      },
    }),
    tool({
      name: 'order_more',
      description: 'Orders an article from its supplier',
      input: z.looseObject({ article: z.string(), count: z.number() }),
      annotations: { destructiveHint: false, openWorldHint: true },
      scopes: ['refund:write'],
      approval: ({ count }) => count > 100,
      stateless: true,
      run: ({ article, count }) => `ordered ${count} ${article}`,
    }),
  ],
})

const letters = defineServer({
  name: 'letters',
  version: '2.0.1',
  title: 'Letters',
  description: 'Mail to customers',
  tools: [
    tool({
      name: 'search_mail',
      description: 'Finds letters by sender or words',
      input: z.object({ words: z.string() }),
      annotations: { readOnlyHint: true },
      async run({ words }) {
        await simulateWork(22)
        return { found: words.length }
      },
    }),
    tool({
      name: 'send_letter',
      description: 'Sends a letter to a customer',
      input: z.looseObject({ to: z.string(), text: z.string() }),
      annotations: { openWorldHint: true },
      scopes: ['refund:write'],
      approval: 'always',
      stateless: true,
      run: ({ to }) => `sent to ${to}`,
    }),
  ],
})

export interface DemoConsole extends ConsoleFixture {
  readonly secrets: readonly string[]
}

const deceptiveText = 'Refund for a parcel that never arrived. \u202eevoba sa\u202c Customer was informed.'

export interface DemoOptions extends ConsoleFixtureOptions {
  /** How many minutes of traffic there were before the tickets. */
  readonly pastMinutes?: number
}

/** Tickets of several callers, one of them with a disguised text; two are decided. */
export async function openDemoConsole({
  pastMinutes = 0,
  also = [],
  ...options
}: DemoOptions = {}): Promise<DemoConsole> {
  const tools = shopDefinition.tools?.filter(({ name }) => name !== 'break') ?? []
  const clock = adjustableClock()
  clock.advance(-pastMinutes * 60_000)
  const house = await openConsoleFixture({
    ...{ definition: { ...shopDefinition, tools }, also: [warehouse, letters, ...also] },
    ...{ sharing: { clock, store: memoryStore(clock) }, ...options },
  })
  const [ann, nightly, support] = [
    await house.createAgentKey('ann@acme.example', ['acme']),
    await house.createAgentKey('nightly-report', ['globex']),
    await house.createAgentKey('support-bot', ['initech']),
  ]
  await simulateMinutes({ ...house, secrets: [ann, nightly, support] }, pastMinutes)
  const by = { subject: 'owner', via: 'console', tenants: 'all', operator: true } as const
  async function decided(approved: boolean, note: string): Promise<void> {
    const [ticket] = (await house.approvals.list({ status: 'pending' })).tickets
    if (ticket) await house.approvals.decide(ticket.id, { approved, note }, by)
  }
  const broken = { order: 'A-10231', cents: 1250, reason: 'arrived broken' }
  await house.call(ann, 'refund', broken, 'Claude Desktop')
  await decided(true, 'Photo seen')
  await house.call(ann, 'refund', broken, 'Claude Desktop')
  await house.call(support, 'refund', { order: 'C-77', cents: 99_900, to: 'somebody else' }, 'support-agent')
  await decided(false, 'Not our customer')
  const odd = { order: 'A-10577', cents: 125_000, reason: deceptiveText, tags: ['parcel', 'p\u0430ypal'] }
  await house.call(ann, 'refund', odd, 'Claude Desktop')
  await house.call(nightly, 'order_more', { article: 'teapot', count: 250 }, 'cron', 'warehouse')
  const [restock] = (await house.approvals.list({ status: 'pending', tool: 'order_more' })).tickets
  if (restock) {
    const including = { article: 'teapot' }
    await house.approvals.grants.create({ ticket: restock.id, arguments: { including }, durationMs: 3_600_000 }, by)
  }
  const letter = {
    to: 'mia@customer.example',
    text: 'Dear Mia,\n\nyour parcel was sent twice. Please keep the second one.\n\n\tOrder C-812, 25.99 EUR\n\nKind regards\nThe shop',
  }
  await house.call(support, 'send_letter', letter, 'support-agent', 'letters')
  await house.call(
    support,
    'refund',
    { order: 'C-812', cents: 2599, reason: 'sent twice', notify: true },
    'support-agent',
  )
  await house.call(ann, 'refund', { order: 'A-10600', cents: 800 }, 'Claude Desktop')
  return { ...house, secrets: [ann, nightly, support] }
}

/** Real calls, a few for each minute, more of them by day. */
async function simulateMinutes(demo: DemoConsole, minutes: number): Promise<void> {
  const { secret, key } = await demo.consoleApp.operators.create({ name: 'simulation' })
  const headers = { authorization: `Bearer ${secret}` }
  for (let minute = 0; minute < minutes; minute++) {
    const hour = new Date(demo.clock.now()).getUTCHours() + new Date(demo.clock.now()).getUTCMinutes() / 60
    const byDay = Math.max(0, Math.sin(((hour - 6) / 14) * Math.PI))
    await generateTraffic(demo, Math.round(2 + 12 * byDay + (minute % 7)))
    demo.clock.advance(60_000)
    // A process writes its last two minutes when the page is read.
    if (minute % 2 === 1) await send(demo.url, 'api/history', { headers })
  }
  await demo.consoleApp.operators.revoke(key.id)
}

const articles = ['teapot', 'lamp', 'umbrella', 'chess set', 'kite']
const clients = ['Claude Desktop', 'cron', 'support-agent']

/** Makes concurrent calls of all kinds. */
export async function generateTraffic({ call, secrets }: DemoConsole, calls: number): Promise<void> {
  const one = async (at: number): Promise<unknown> => {
    const [secret = '', client = ''] = [secrets[at % 3], clients[at % 3]]
    const article = articles[at % articles.length] ?? ''
    if (at % 31 === 0) return call('sk_nobody', 'price', { article }, 'curl')
    if (at % 23 === 0) return call(secret, 'find_stock', { article: 'ghost' }, client, 'warehouse')
    if (at % 4 === 0) return call(secret, 'search_mail', { words: article }, client, 'letters')
    if (at % 3 === 0) return call(secret, 'price', { article }, client)
    return call(secret, 'find_stock', { article }, client, 'warehouse')
  }
  await Promise.all(Array.from({ length: calls }, (_, at) => one(at + (turn % 100))))
}
