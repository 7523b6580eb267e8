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
  if (requests.length === 0) return <Empty title="No requests yet">Requests appear here when they are answered.</Empty>
  return (
    <TableBox label="Requests">
      <table class="table requests">
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

const RequestRow = ({ request }: { readonly request: RecentRequest }): JSX.Element => (
  <tr>
    <td class="time">{clockTime(request.at)}</td>
    <td class="what">
      <span class="tool-name">
        <Visible text={request.tool ?? (request.method === '' ? 'rejected' : request.method)} />
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
