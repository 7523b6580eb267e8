/** Draws `sluice approvals watch` as lines of a terminal of any size. Text of agents is marked, never sent as it is. */

import type { TicketView } from 'sluice/approvals'
import { callParts, markedText } from 'sluice/approvals'
import { ago, shortId, styled, type Terminal } from '../output.ts'
import type { Shown, WatchState } from './state.ts'
import { isSettled, selectedTicket } from './state.ts'
import { fitColumns, wrapColumns } from './text.ts'

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

export interface Screen {
  /** Exactly as many lines as the terminal has rows. */
  readonly lines: readonly string[]
  readonly shown: Shown
}

/** The rows besides list and ticket: title, two rules, the message and the keys. */
const frameRows = 5
const minTicketRows = 5

export function drawScreen(
  state: WatchState,
  { columns, rows }: ScreenSize,
  now: number,
  style: Pick<Terminal, 'isTty'>,
): Screen {
  const fit = (text: string): string => fitColumns(text, columns)
  const ticket = selectedTicket(state)
  const inside = Math.max(rows - frameRows, 2)
  const listRows = state.view === 'ticket' ? 1 : Math.max(1, Math.min(state.tickets.length, inside - minTicketRows))
  const ticketRows = Math.max(inside - listRows, 1)
  const all = ticket ? ticketLines(ticket, now).flatMap((line) => wrapColumns(line, columns)) : []
  const maxScroll = Math.max(0, all.length - ticketRows)
  const scroll = state.view === 'ticket' ? Math.min(state.scroll, maxScroll) : 0
  const visible = all.slice(scroll, scroll + ticketRows)
  // A smaller terminal does not show the ticket at all.
  const isComplete = rows >= frameRows + 2 && scroll + ticketRows >= all.length
  // The last row says that there is more, so that a person never takes a part for the whole.
  const hidden = all.length - scroll - ticketRows + 1
  const part = isComplete ? visible : [...visible.slice(0, -1), `… ${hidden} more lines: ${moreHint(state)}`]
  const rule = '─'.repeat(columns)
  const title = `Approvals: ${state.tickets.length} waiting`
  const lines = [
    styled(style, 'bold', fit(title)),
    ...listLines(state, listRows, now).map(({ text, isSelected }) =>
      isSelected ? styled(style, 'cyan', fit(text)) : fit(text),
    ),
    styled(style, 'dim', rule),
    ...filled(part, ticketRows).map(fit),
    styled(style, 'dim', rule),
    styled(style, 'yellow', fit(messageLine(state))),
    styled(style, 'dim', fit(keysLine(state, now))),
  ]
  return { lines: lines.slice(0, rows), shown: { isComplete, maxScroll, page: Math.max(1, ticketRows - 1) } }
}

const moreHint = ({ view }: WatchState): string => (view === 'ticket' ? 'space' : 'Enter')

const filled = (lines: readonly string[], count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => lines[at] ?? '')

interface ListLine {
  readonly text: string
  readonly isSelected: boolean
}

/** The rows around the cursor. */
function listLines({ tickets, selected }: WatchState, count: number, now: number): readonly ListLine[] {
  if (tickets.length === 0)
    return filled(['No calls wait for an approval. New ones appear here.'], count).map((text) => ({
      text,
      isSelected: false,
    }))
  const at = Math.max(
    0,
    tickets.findIndex(({ id }) => id === selected),
  )
  const first = Math.max(0, Math.min(at - Math.floor(count / 2), tickets.length - count))
  return tickets.slice(first, first + count).map((ticket) => {
    const isSelected = ticket.id === selected
    const cells = [
      shortId(ticket.id),
      fitColumns(oneLine(`${ticket.server}/${ticket.tool}`), 26),
      fitColumns(oneLine(callerOf(ticket)), 20),
      ago(ticket.createdAt, now),
    ]
    return { text: `${isSelected ? '>' : ' '} ${cells.join('  ')}`, isSelected }
  })
}

const oneLine = (text: string): string => markedText(text).replaceAll('\n', ' ')

const callerOf = ({ caller, tenant }: TicketView): string =>
  caller.subject === tenant ? tenant : `${caller.subject}@${tenant}`

/** Everything that a decision is about. Each line is one line of the ticket, before it is wrapped. */
function ticketLines(ticket: TicketView, now: number): readonly string[] {
  const { server, tool, description, caller, createdAt, expiresAt, needed, decisions, rule } = ticket
  const approvals = decisions.filter(({ approved }) => approved).map(({ by }) => by)
  const [summary = ''] = description.split('\n')
  return [
    `Tool: ${oneLine(`${server}/${tool}`)}${summary === '' ? '' : ` (${oneLine(summary)})`}`,
    `Caller: ${oneLine(callerOf(ticket))}${caller.client === undefined ? '' : `, client ${oneLine(caller.client)}`}`,
    `Requested: ${ago(createdAt, now)}, expires in ${Math.max(1, Math.ceil((expiresAt - now) / 60_000))} min`,
    ...(rule === undefined ? [] : [`Rule: ${oneLine(rule)}`]),
    ...(needed > 1 ? [`Approved by ${approvals.length} of ${needed}: ${oneLine(approvals.join(', '))}`] : []),
    ...callParts(ticket).flatMap(([title, text]) => [`${title}:`, ...text.split('\n').map((line) => `  ${line}`)]),
  ]
}

function messageLine({ isTyping, note, message }: WatchState): string {
  if (isTyping) return `Note: ${oneLine(note)}_`
  return note === '' || message !== '' ? message : `Note: ${oneLine(note)}`
}

function keysLine(state: WatchState, now: number): string {
  if (state.isTyping) return 'Enter keeps the note, Esc drops it'
  if (state.selected === undefined) return 'q leave'
  const decide = isSettled(state, now) ? 'a approve  d deny' : 'new: look at it'
  return state.view === 'ticket'
    ? `↑↓ space scroll  Esc list  ${decide}  n note  q leave`
    : `↑↓ choose  Enter show all  ${decide}  n note  q leave`
}
