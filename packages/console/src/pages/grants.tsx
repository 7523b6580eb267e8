/** What was allowed without asking again, until when, and how to end it. */

import type { JSX } from 'preact'
import type { Grant } from '../../../sluice/src/operate/console/api.ts'
import { ask } from '../client.ts'
import { usePages } from '../hooks.ts'
import type { Column } from '../table.tsx'
import { Sub, Table } from '../table.tsx'
import { dateTime, More, Problem, Revoke, useRevoking, Visible } from '../ui.tsx'

const columns: readonly Column<Grant>[] = [
  {
    name: 'Tool',
    show: ({ tool, server }) => (
      <>
        <Visible text={tool} />
        <Sub>
          <Visible text={server} />
        </Sub>
      </>
    ),
  },
  { name: 'Caller', show: ({ caller, tenant }) => <Visible text={`${caller} · ${tenant}`} /> },
  {
    name: 'Arguments',
    show: ({ arguments: which }) => (
      <code>
        <Visible text={which} />
      </code>
    ),
  },
  { name: 'Given by', show: ({ by }) => <Visible text={by} /> },
  { name: 'Ends', show: ({ expiresAt }) => dateTime(expiresAt) },
]

export function Grants({ mayRevoke }: { readonly mayRevoke: boolean }): JSX.Element | null {
  const { pages, problem, more, again } = usePages((after) => ask('listGrants', after))
  const revoking = useRevoking<Grant>(({ id }) => ask('revokeGrant', { id }), again)
  const grants = pages?.flatMap((page) => page.grants) ?? []
  if (grants.length === 0 && more === undefined) return <Problem text={problem} />
  const revoke: Column<Grant> = {
    name: 'Revoke',
    silent: true,
    right: true,
    show: (grant) => (
      <button type="button" class="button small" disabled={!mayRevoke} onClick={() => revoking.choose(grant)}>
        Revoke
        <span class="unseen">
          {' '}
          {grant.tool} for {grant.caller}
        </span>
      </button>
    ),
  }
  return (
    <section>
      <h2>Standing grants</h2>
      <Problem text={revoking.problem ?? problem} />
      <Table label="Standing grants" columns={[...columns, revoke]} rows={grants} />
      <More what="grants" more={more} />
      <Revoke what="grant" revoking={revoking}>
        {({ tool, caller }) => (
          <>
            From the next call on, <Visible text={caller} /> has to ask again before <Visible text={tool} /> runs.
          </>
        )}
      </Revoke>
    </section>
  )
}
