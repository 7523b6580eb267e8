/** A ticket as text for a terminal. Text of agents and upstreams is marked, never printed as it is. */

import type { TicketView } from 'sluice/approvals'
import { effectLines, markedText, readableAnswer } from 'sluice/approvals'
import { ago, styled, type Terminal, wrapText } from '../output.ts'

export function describeTicket(terminal: Terminal, ticket: TicketView): string {
  const { id, status, caller, tenant, server, tool, description, digest, createdAt, expiresAt, decisions, previous } =
    ticket
  const rows: readonly (readonly [string, string | undefined])[] = [
    ...effectLines(ticket.effect).map((line, at) => [at === 0 ? 'Acts on' : '', line] as const),
    ['Ticket', `${id}, ${status}${ticket.withdrawn ? ', withdrawn by its caller' : ''}`],
    ['Caller', `${caller.subject === tenant ? tenant : `${caller.subject} of ${tenant}`}, by ${caller.credential}`],
    ['Tool', `${server}/${tool}`],
    ['', description],
    ['Requested', `${ago(createdAt, Date.now())}, expires ${new Date(expiresAt).toISOString()}`],
    ['Digest', digest],
    ['Previous', previous && `${previous.id}: ${previous.arguments}`],
    ...decisions.map(
      ({ by, approved, note }) => [approved ? 'Approved' : 'Denied', `by ${by}${note ? `: ${note}` : ''}`] as const,
    ),
  ]
  const lines = rows.flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`${styled(terminal, 'bold', name.padEnd(9))} ${wrapText(terminal, markedText(value), 10)}`],
  )
  const answers = ticket.answers === '{}' ? [] : ['', 'Answers to its questions:', markedText(ticket.answers)]
  return [...lines, '', markedText(ticket.arguments), ...answers, ...questionLines(ticket)].join('\n')
}

/** The questions while the call ran. Line breaks of a question stay escaped, so that it cannot forge an answer. */
function questionLines({ questions = [] }: TicketView): readonly string[] {
  if (questions.length === 0) return []
  const asked = questions.flatMap(({ question, answer }, at) => {
    const { outcome, text } = readableAnswer(answer)
    const outcomeLines = `${outcome}${text === undefined ? '' : `: ${text}`}`.split('\n')
    return [`${at + 1}. ${JSON.stringify(question)}`, ...outcomeLines.map((line) => `   ${line}`)]
  })
  return ['', 'Questions while it ran. The approval does not cover the answers.', ...asked.map(markedText)]
}
