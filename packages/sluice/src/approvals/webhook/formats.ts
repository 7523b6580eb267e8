/**
 * The bodies that chats take, beside our own signed one. Each puts the text of a call where the chat shows it literally, so
 * that an argument becomes no link, mention or formatting. A call that is too long for the chat is cut, and the link leads
 * to the whole.
 */

import type { Params } from '../../core/json.ts'
import { markedText } from '../text/marked-text.ts'
import { callParts } from '../text/readable.ts'
import type { TicketView } from '../ticket.ts'

/** `json` is our own body, which programs verify. The others are what the chat of that name takes. */
export type WebhookFormat = 'json' | 'slack' | 'teams' | 'ntfy'

/** A request to a chat, before it is signed. */
export interface WebhookRequest {
  readonly url: string
  readonly body: string
}

/** Makes the request for a ticket. `at` is the time in milliseconds. */
export function toWebhookRequest(format: WebhookFormat, url: string, ticket: TicketView, at: number): WebhookRequest {
  if (format === 'slack') return { url, body: slackBody(ticket) }
  if (format === 'teams') return { url, body: teamsBody(ticket) }
  if (format === 'ntfy') return ntfyRequest(url, ticket)
  const timestamp = new Date(at).toISOString()
  return { url, body: JSON.stringify({ type: 'approval.requested', timestamp, data: ticket }) }
}

const titleOf = ({ server, tool }: TicketView): string => markedText(`Approval needed: ${server}/${tool}`)

const callerOf = ({ caller, tenant }: TicketView): string =>
  markedText(`Caller: ${caller.subject === tenant ? tenant : `${caller.subject} of ${tenant}`}`)

const textOf = (ticket: TicketView): string =>
  callParts(ticket)
    .map(([title, text]) => `${title}:\n${text}`)
    .join('\n\n')

/** What to do without a console. An id is a UUID, so it needs no quotes. */
const commandHint = ({ id }: TicketView): string => `Read and decide it with: sluice approvals show ${id}`

/** Shortens a text, never between the two halves of a character. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** Makes the body with as much of the text as fits, and says how much is missing. */
function fitted(text: string, fits: (body: string) => boolean, make: (text: string) => string): string {
  const whole = make(text)
  if (fits(whole)) return whole
  const shortened = (length: number): string => {
    const kept = cut(text, length)
    return make(`${kept}\n… and ${text.length - kept.length} more characters. Read the whole ticket before you decide.`)
  }
  let [low, high] = [0, text.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(shortened(middle))) low = middle
    else high = middle - 1
  }
  return shortened(low)
}

const bytes = (text: string): number => new TextEncoder().encode(text).length

/** Slack takes 150 characters in a header and 3000 in a text. https://docs.slack.dev/reference/block-kit/blocks */
const slackHeader = 150
const slackText = 3000

/** Elements of `rich_text` are literal: links and mentions are elements of other types. */
function slackBody(ticket: TicketView): string {
  const { url } = ticket
  const title = titleOf(ticket)
  const literal = (text: string): Params => ({ type: 'text', text })
  const section = (element: Params): Params => ({ type: 'rich_text_section', elements: [element] })
  const make = (text: string): string =>
    JSON.stringify({
      // The text of the notification, which Slack parses.
      text: escapeSlack(title),
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: cut(title, slackHeader), emoji: false } },
        {
          type: 'rich_text',
          elements: [
            section(literal(callerOf(ticket))),
            { type: 'rich_text_preformatted', elements: [literal(text)] },
            section(url === undefined ? literal(commandHint(ticket)) : { type: 'link', url, text: 'Open the ticket' }),
          ],
        },
      ],
    })
  return fitted(textOf(ticket), (body) => textLengthIn(body) <= slackText, make)
}

const textLengthIn = (body: string): number => {
  const { blocks } = JSON.parse(body) as { blocks: readonly { elements?: readonly Params[] }[] }
  const preformatted = blocks[1]?.elements?.[1] as { elements: readonly { text: string }[] } | undefined
  return preformatted?.elements[0]?.text.length ?? 0
}

/** https://docs.slack.dev/messaging/formatting-message-text */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Teams takes 28 KB. Some bytes are left for what a workflow adds. */
const teamsBytes = 26_000

/** A `TextRun` shows no Markdown. https://learn.microsoft.com/adaptive-cards/schema-explorer/text-run */
function teamsBody(ticket: TicketView): string {
  const { url } = ticket
  const make = (text: string): string =>
    JSON.stringify({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            msteams: { width: 'Full' },
            body: [
              line(titleOf(ticket), { weight: 'Bolder', size: 'Medium' }),
              line(callerOf(ticket)),
              ...text.split('\n').map((each) => line(each, { fontType: 'Monospace' }, 'None')),
              ...(url === undefined ? [line(commandHint(ticket))] : []),
            ],
            ...(url !== undefined && { actions: [{ type: 'Action.OpenUrl', title: 'Open the ticket', url }] }),
          },
        },
      ],
    })
  return fitted(textOf(ticket), (body) => bytes(body) <= teamsBytes, make)
}

/**
 * A line of a card. Line breaks in a run are not shown everywhere, so each line is a block. Spaces at its beginning would
 * collapse. `{{DATE(…)}}` would show a date instead of the text, so no run contains `{{`.
 */
const line = (text: string, style: Params = {}, spacing = 'Default'): Params => ({
  type: 'RichTextBlock',
  spacing,
  inlines: (text === '' ? ' ' : text)
    .replace(/^ +/, (spaces) => '\u00a0'.repeat(spaces.length))
    .split(/(?<=\{)(?=\{)/)
    .map((run) => ({ type: 'TextRun', text: run, ...style })),
})

/** A longer message becomes an attachment. https://docs.ntfy.sh/publish/#limitations */
const ntfyBytes = 4096
const ntfyTitle = 250

/** The address, the topic, and a query, which may hold a credential. */
const topicPattern = /^([a-z]+:\/\/[^/?#]+\/(?:[^?#]+\/)?)([^/?#]+)\/?(\?[^#]*)?$/

/** The URL ends with the topic, as people copy it. JSON goes to the address without it. Markdown is off by default. */
function ntfyRequest(url: string, ticket: TicketView): WebhookRequest {
  const [, before = url, topic = '', query = ''] = topicPattern.exec(url) ?? []
  const make = (message: string): string =>
    JSON.stringify({
      ...{ topic: decodeURIComponent(topic), title: cut(titleOf(ticket), ntfyTitle), message, priority: 4 },
      ...(ticket.url !== undefined && {
        click: ticket.url,
        actions: [{ action: 'view', label: 'Open the ticket', url: ticket.url }],
      }),
    })
  const head = ticket.url === undefined ? `${callerOf(ticket)}\n${commandHint(ticket)}` : callerOf(ticket)
  const messageIn = (body: string): string => (JSON.parse(body) as { message: string }).message
  const body = fitted(
    textOf(ticket),
    (each) => bytes(messageIn(each)) <= ntfyBytes,
    (text) => make(`${head}\n\n${text}`),
  )
  return { url: `${before}${query}`, body }
}

/** Throws if the URL cannot be used with the format. */
export function checkFormat(format: WebhookFormat, url: string): void {
  if (format === 'ntfy' && !topicPattern.test(url))
    throw new TypeError('webhook: the "url" of ntfy must end with a topic, as in https://ntfy.sh/my-topic')
}
