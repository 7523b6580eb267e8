/** What surrounds a ticket: the answer of its run, and what its caller did before. */

import type { JSX } from 'preact'
import type { Ticket } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { Code, toLines } from '../code.tsx'
import { auditLink, useQuery } from '../hooks.ts'
import { outcomeTone, outcomeWord } from '../outcomes.ts'
import { Chip, clockTime, milliseconds, Visible } from '../ui.tsx'

export function TicketContext({ ticket }: { readonly ticket: Ticket }): JSX.Element {
  const { id, status, caller, tenant } = ticket
  const { data } = useQuery(() => callApi('getTicketContext', { id }), `${id} ${status}`)
  const result = data?.result
  const calls = data?.calls.filter((call) => call.ticket !== id) ?? []
  return (
    <>
      {result && (
        <section class="block">
          <div class="block-head">
            <h3>What came of it</h3>
            <Chip tone={result.isError ? 'bad' : 'good'}>{result.isError ? 'failed' : 'succeeded'}</Chip>
            {result.durationMs !== undefined && <span class="dim">in {milliseconds(result.durationMs)}</span>}
          </div>
          <Code label="The result" small>
            {toLines(result.text)}
          </Code>
          {!result.isWhole && <p class="dim">Only the beginning is shown.</p>}
        </section>
      )}
      <section class="block">
        <div class="block-head">
          <h3>
            What <Visible text={caller} /> did in the last ten minutes
          </h3>
          <a href={auditLink({ tenant, text: id })}>This ticket in the audit</a>
        </div>
        {data && calls.length === 0 && <p class="dim">No other calls.</p>}
        <ul class="calls">
          {calls.map((call) => (
            <li key={`${call.at} ${call.target} ${call.ticket}`}>
              <span class="dim">{clockTime(call.at)}</span>
              <span class="tool-name">
                <Visible text={call.target} />
              </span>
              <Chip tone={outcomeTone(call.outcome)}>{outcomeWord(call.outcome)}</Chip>
              {call.durationMs !== undefined && <span class="dim">{milliseconds(call.durationMs)}</span>}
              {call.ticket !== undefined && <a href={`#/approvals/${encodeURIComponent(call.ticket)}`}>its ticket</a>}
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
