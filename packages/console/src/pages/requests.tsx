/** The last requests, one row each. */

import type { JSX } from 'preact'
import type { RecentRequest } from '../../../sluice/src/operate/console/api.ts'
import { Chip, clockTime, Empty, milliseconds, number, TableBox, Visible } from '../ui.tsx'

export function Requests({
  requests,
  missed,
}: {
  readonly requests: readonly RecentRequest[]
  readonly missed: number
}): JSX.Element {
  if (requests.length === 0)
    return <Empty title="Nothing has passed yet">Requests appear here as they are answered.</Empty>
  return (
    <TableBox label="Requests">
      <table class="table requests">
        <caption class="unseen">The last requests, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Tenant</th>
            <th scope="col">Caller</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="right">
              Took
            </th>
          </tr>
        </thead>
        <tbody>{requests.map(rowOf)}</tbody>
      </table>
      <p class="dim table-foot" aria-hidden="true">
        {missed > 0
          ? `${number(missed)} more passed in the last moment than are listed.`
          : `The last ${requests.length}.`}
      </p>
    </TableBox>
  )
}

/** A request does not change, and an element that is the same is not looked at again. */
const rowCache = new WeakMap<RecentRequest, JSX.Element>()
function rowOf(request: RecentRequest): JSX.Element {
  const known = rowCache.get(request)
  if (known) return known
  const row = <RequestRow key={request.seq} request={request} />
  rowCache.set(request, row)
  return row
}

const RequestRow = ({ request }: { readonly request: RecentRequest }): JSX.Element => (
  <tr>
    <td class="time">{clockTime(request.at)}</td>
    <td class="what">
      <span class="tool-name">
        <Visible text={request.tool ?? (request.method === '' ? 'refused unread' : request.method)} />
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
    <td>
      <Visible text={request.tenant} />
    </td>
    <td>
      <Visible text={request.caller} />
    </td>
    <td>
      <Chip tone={request.failed ? 'bad' : request.outcome === 'complete' ? 'good' : 'accent'}>{request.outcome}</Chip>
    </td>
    <td class="right">{milliseconds(request.durationMs)}</td>
  </tr>
)
