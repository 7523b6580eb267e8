/** The last requests, one row each. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RecentRequest } from '../../api/index.ts'
import { auditLink } from '../hooks.ts'
import { LayerPath } from '../layer-path.tsx'
import { outcomeTone, outcomeWord } from '../outcomes.ts'
import { Chip, clockTime, dateTime, Empty, milliseconds, number, TableBox, Visible } from '../ui.tsx'

export function Requests({
  requests,
  missed,
}: {
  readonly requests: readonly RecentRequest[]
  readonly missed: number
}): JSX.Element {
  if (requests.length === 0) return <Empty title="No requests yet">Requests appear here when they are answered.</Empty>
  return (
    <TableBox label="Requests">
      <table class="table requests cards-on-phone">
        <caption class="unseen">The last requests, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Target</th>
            <th scope="col">Tenant</th>
            <th scope="col">Caller</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="right">
              Duration
            </th>
            <th scope="col">
              <span class="unseen">All fields</span>
            </th>
          </tr>
        </thead>
        <tbody>{requests.map(rowOf)}</tbody>
      </table>
      <p class="dim table-foot" aria-hidden="true">
        {missed > 0
          ? `${number(missed)} more requests in the last half second are not listed.`
          : `The last ${requests.length} requests.`}
      </p>
    </TableBox>
  )
}

/** Keeps the element of each request. A request does not change, and the renderer skips an unchanged element. */
const rowCache = new WeakMap<RecentRequest, JSX.Element>()
function rowOf(request: RecentRequest): JSX.Element {
  const known = rowCache.get(request)
  if (known) return known
  const row = <RequestRow key={request.seq} request={request} />
  rowCache.set(request, row)
  return row
}

function RequestRow({ request }: { readonly request: RecentRequest }): JSX.Element {
  const [open, setOpen] = useState(false)
  const name = request.tool ?? (request.method === '' ? 'rejected' : request.method)
  return (
    <>
      <tr class="opens" onClick={(event) => isPlainClick(event) && setOpen(!open)}>
        <td class="time">{clockTime(request.at)}</td>
        <td class="what">
          <span class="tool-name">
            <Visible text={name} />
          </span>
          <span class="dim from">
            <Visible text={request.server} />
            {request.client !== undefined && (
              <>
                {' · '}
                <Visible text={request.client} />
              </>
            )}
          </span>
          {request.message !== undefined && (
            <span class="bad-text sub">
              <Visible text={request.message} />
            </span>
          )}
        </td>
        <td data-label="Tenant">
          <Visible text={request.tenant} />
        </td>
        <td data-label="Caller">
          <Visible text={request.caller} />
        </td>
        <td>
          <Chip tone={request.failed ? 'bad' : outcomeTone(request.outcome)}>{outcomeWord(request.outcome)}</Chip>
        </td>
        <td class="right" data-label="Duration">
          {milliseconds(request.durationMs)}
        </td>
        <td class="right">
          <button type="button" class="button small quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Less' : 'More'}
            <span class="unseen"> of {name}</span>
          </button>
        </td>
      </tr>
      {open && (
        <tr class="fields">
          <td colSpan={7}>
            <RequestFields request={request} />
          </td>
        </tr>
      )}
    </>
  )
}

/** A click on a button, a link or selected text has its own meaning. */
export const isPlainClick = (event: MouseEvent): boolean =>
  !(event.target as HTMLElement).closest('button, a') && String(getSelection()) === ''

function RequestFields({ request }: { readonly request: RecentRequest }): JSX.Element {
  const { at, ticket, tenant, caller, reference } = request
  const fields: readonly (readonly [string, string | undefined])[] = [
    ['Time', dateTime(at)],
    ['Server', request.server],
    ['Method', request.method],
    ['Target', request.tool],
    ['Tenant', tenant],
    ['Caller', caller],
    ['Client (unverified)', request.client],
    ['Outcome', request.outcome],
    ['Duration', milliseconds(request.durationMs)],
    ['Transport', request.transport],
    ['Reference', reference],
    ['Ticket', ticket],
  ]
  return (
    <>
      <dl class="facts">
        {fields.map(
          ([name, value]) =>
            value !== undefined &&
            value !== '' && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Visible text={value} />
                </dd>
              </div>
            ),
        )}
      </dl>
      {request.layers ? (
        <LayerPath {...request} />
      ) : (
        <p class="dim">The layers are measured while this page is open, for at most 50 requests a second.</p>
      )}
      <p class="links">
        {ticket !== undefined && <a href={`#/approvals/${encodeURIComponent(ticket)}`}>Open its ticket</a>}
        {tenant !== '' && <a href={auditLink({ tenant, text: reference ?? ticket ?? caller })}>Find it in the audit</a>}
      </p>
    </>
  )
}
