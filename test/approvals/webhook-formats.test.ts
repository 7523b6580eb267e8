/** The bodies for Slack, Microsoft Teams and ntfy, as a real HTTP server receives them. */

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { WebhookFormat } from 'sluice/approvals'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { importFrom } from '../kit/processes/npm-packages.ts'
import { openApprovalsFixture, requiredIn } from '../kit/servers/approvals.fixture.ts'

interface Received {
  readonly path: string
  readonly headers: { readonly [name: string]: unknown }
  readonly body: string
}

/** Makes a ticket and returns the request that its webhook sent. */
async function received(format: WebhookFormat, args: object, { path = '/hook', url = 'https://console.example' } = {}) {
  const arrived = Promise.withResolvers<Received>()
  const chat = createHttpServer((request, response) => {
    text(request).then((body) => {
      response.end()
      arrived.resolve({ path: request.url ?? '', headers: request.headers, body })
    }, arrived.reject)
  })
  chat.listen(0, '127.0.0.1')
  await once(chat, 'listening')
  onTestFinished(() => {
    chat.close()
  })
  const to = `http://127.0.0.1:${(chat.address() as AddressInfo).port}${path}`
  const { call, clock, approvals } = await openApprovalsFixture({
    ...(url !== '' && { url }),
    webhook: { url: to, format },
  })
  const { request_id: id } = requiredIn(await call('pay', args))
  await clock.advance(0)
  expect(approvals.acceptsWebhook).toBe(false)
  return { id, page: `https://console.example/approvals/${id}`, ...(await arrived.promise) }
}

/** Text that would be a mention, a link, a date or formatting if a chat parsed it. */
const hostile =
  '<!channel> @channel <@U1> <https://evil.example|ok> [ok](https://evil.example) *b* {{DATE(2017-02-14T06:00:00Z)}} \u202e end'
const short = { amount: 5, to: hostile }
const long = { amount: 5, to: `${hostile} ${'🙂"'.repeat(20_000)}`.slice(0, 40_000).toWellFormed() }

const plain = z.strictObject({ type: z.literal('text'), text: z.string().min(1) })
const link = z.strictObject({ type: z.literal('link'), url: z.url(), text: z.string() })
/** Block Kit as documented at https://docs.slack.dev/reference/block-kit/blocks, of the elements that we use. */
const slackMessage = z.strictObject({
  text: z.string(),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
  blocks: z.tuple([
    z.strictObject({
      type: z.literal('header'),
      text: z.strictObject({ type: z.literal('plain_text'), text: z.string().max(150), emoji: z.boolean() }),
    }),
    z.strictObject({
      type: z.literal('rich_text'),
      elements: z.tuple([
        z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(plain) }),
        z.strictObject({
          type: z.literal('rich_text_preformatted'),
          elements: z.tuple([plain.extend({ text: z.string().max(3000) })]),
        }),
        z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(z.union([plain, link])) }),
      ]),
    }),
  ]),
})

test('Slack gets blocks whose text is literal, with a link to the ticket', async () => {
  const { body, page } = await received('slack', short)
  const { text: notification, blocks } = slackMessage.parse(JSON.parse(body))
  const [header, { elements }] = blocks
  expect(header.text.text).toBe('Approval needed: shop/pay')
  expect(elements[1].elements[0].text).toContain('"amount": 5')
  // Literal elements are not parsed, so nothing is escaped or lost there. Hidden characters are visible.
  expect(elements[1].elements[0].text).toContain('<!channel> @channel <@U1> <https://evil.example|ok>')
  expect(elements[1].elements[0].text).toContain('[U+202E RLO]')
  expect(elements[2].elements).toEqual([{ type: 'link', url: page, text: 'Open the ticket' }])
  // The text of the notification is parsed by Slack, so it has no arguments.
  expect(notification).toBe('Approval needed: shop/pay')
})

test('a long call is cut to what Slack takes, says so, and keeps its link', async () => {
  const { body, page } = await received('slack', long)
  const { elements } = slackMessage.parse(JSON.parse(body)).blocks[1]
  const shown = elements[1].elements[0].text
  expect(shown).toMatch(/\n… and \d+ more characters\. Read the whole ticket before you decide\.$/)
  expect(shown.length).toBeGreaterThan(2_900)
  expect(shown.isWellFormed()).toBe(true)
  expect(elements[2].elements).toMatchObject([{ url: page }])
})

interface CardParser {
  readonly default: {
    readonly AdaptiveCard: new () => {
      parse(card: object, context: object): void
      validateProperties(): { readonly validationEvents: readonly unknown[] }
    }
    readonly SerializationContext: new () => { readonly eventCount: number; getEventAt(index: number): unknown }
  }
}
interface Run {
  readonly text: string
  readonly type: string
}
interface TeamsMessage {
  readonly type: string
  readonly attachments: readonly {
    readonly contentType: string
    readonly content: {
      readonly body: readonly { readonly type: string; readonly inlines: readonly Run[] }[]
      readonly actions?: readonly object[]
    }
  }[]
}

/** Returns the card of a message, after the official parser has accepted it. */
async function cardIn(body: string): Promise<TeamsMessage['attachments'][0]['content']> {
  const { type, attachments } = JSON.parse(body) as TeamsMessage
  const [attachment] = attachments
  expect([type, attachments.length, attachment?.contentType]).toEqual([
    'message',
    1,
    'application/vnd.microsoft.card.adaptive',
  ])
  if (!attachment) throw new Error('No card')
  const { default: parser } = await importFrom<CardParser>('adaptive-cards', './adaptivecards/dist/adaptivecards.js')
  const problemsOf = (card: object): readonly unknown[] => {
    const context = new parser.SerializationContext()
    const parsed = new parser.AdaptiveCard()
    parsed.parse(card, context)
    const found = Array.from({ length: context.eventCount }, (_, at) => context.getEventAt(at))
    return [...found, ...parsed.validateProperties().validationEvents]
  }
  expect(problemsOf(attachment.content)).toEqual([])
  // The parser does report what it does not know.
  expect(problemsOf({ ...attachment.content, body: [{ type: 'Nope' }] })).not.toEqual([])
  return attachment.content
}

test('Microsoft Teams gets an Adaptive Card of runs, which show no Markdown, mention or date', async () => {
  const { body, page } = await received('teams', short)
  const { body: lines, actions } = await cardIn(body)
  expect(
    lines.every(({ type, inlines }) => type === 'RichTextBlock' && inlines.every((run) => run.type === 'TextRun')),
  ).toBe(true)
  const texts = lines.map(({ inlines }) => inlines.map((run) => run.text).join(''))
  expect(texts[0]).toBe('Approval needed: shop/pay')
  expect(texts).toContain('\u00a0\u00a0"amount": 5,')
  expect(texts.some((each) => each.includes('[ok](https://evil.example) *b* {{DATE(2017-02-14T06:00:00Z)}}'))).toBe(
    true,
  )
  for (const { inlines } of lines) for (const run of inlines) expect(run.text).not.toContain('{{')
  expect(actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open the ticket', url: page }])
})

test('a long call is cut to what Teams takes, and keeps its button', async () => {
  const { body } = await received('teams', long)
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(28_000)
  expect(Buffer.byteLength(body)).toBeGreaterThan(20_000)
  const { body: lines, actions } = await cardIn(body)
  expect(lines.at(-1)?.inlines[0]?.text).toMatch(/^… and \d+ more characters/)
  expect(actions).toHaveLength(1)
})

/** https://docs.ntfy.sh/publish/#publish-as-json */
const ntfyMessage = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  title: z.string().max(250),
  message: z.string(),
  priority: z.int().min(1).max(5),
  click: z.url().optional(),
  actions: z
    .array(z.strictObject({ action: z.literal('view'), label: z.string(), url: z.url() }))
    .max(3)
    .optional(),
})

test('ntfy gets plain text at the address before the topic, with the credential of the query', async () => {
  const { body, page, path } = await received('ntfy', short, { path: '/base/my-topic?auth=abc' })
  expect(path).toBe('/base/?auth=abc')
  const sent = ntfyMessage.parse(JSON.parse(body))
  expect(sent).toMatchObject({ topic: 'my-topic', title: 'Approval needed: shop/pay', click: page })
  expect(sent.message).toContain('"amount": 5')
  expect(sent.message).toContain('[U+202E RLO]')
})

test('a long call is cut to the bytes of a message of ntfy, so that it does not become an attachment', async () => {
  const sent = ntfyMessage.parse(JSON.parse((await received('ntfy', long, { path: '/t' })).body))
  expect(Buffer.byteLength(sent.message)).toBeLessThanOrEqual(4096)
  expect(Buffer.byteLength(sent.message)).toBeGreaterThan(4000)
  expect(sent.message).toMatch(/more characters\. Read the whole ticket before you decide\.$/)
})

test('without a console each says which command shows the ticket', async () => {
  for (const [format, path] of [
    ['slack', '/'],
    ['teams', '/'],
    ['ntfy', '/t'],
  ] as const) {
    const { body, id } = await received(format, short, { path, url: '' })
    expect(body).toContain(`sluice approvals show ${id}`)
  }
})

test('ntfy needs a topic, and our own format a secret', async () => {
  await expect(openApprovalsFixture({ webhook: { url: 'https://ntfy.sh/', format: 'ntfy' } })).rejects.toThrow('topic')
  await expect(openApprovalsFixture({ webhook: { url: 'https://chat.example/' } })).rejects.toThrow('secret')
})
