/** The grants in force, with a button to revoke each. */

import type { JSX } from 'preact'
import type { GrantSummary } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { usePages } from '../hooks.ts'
import type { Column } from '../table.tsx'
import { SubText, Table } from '../table.tsx'
import { dateTime, Problem, Revoke, ShowMore, useRevocation, Visible } from '../ui.tsx'

const columns: readonly Column<GrantSummary>[] = [
  {
    name: 'Tool',
    show: ({ tool, server }) => (
      <>
        <Visible text={tool} />
        <SubText>
          <Visible text={server} />
        </SubText>
      </>
    ),
  },
  { name: 'Caller', show: ({ caller, tenant }) => <Visible text={`${caller} · ${tenant}`} /> },
  {
    name: 'Arguments',
    show: ({ arguments: scope }) => (
      <code>
        <Visible text={scopeInWords(scope)} />
      </code>
    ),
  },
  { name: 'Granted by', show: ({ by }) => <Visible text={by} /> },
  { name: 'Expires', show: ({ expiresAt }) => dateTime(expiresAt) },
]

/** Returns `including {"article":"teapot"}`. A long scope is cut, so it is not always JSON. */
const scopeInWords = (scope: string): string =>
  scope === 'any' ? 'any' : scope.replace(/^\{"(exactly|including)":(.*?)\}?$/s, '$1 $2')

export function Grants({ mayRevoke }: { readonly mayRevoke: boolean }): JSX.Element | null {
  const { pages, problem, more, reload } = usePages((after) => callApi('listGrants', after))
  const revoking = useRevocation<GrantSummary>(({ id }) => callApi('revokeGrant', { id }), reload)
  const grants = pages?.flatMap((page) => page.grants) ?? []
  if (grants.length === 0 && more === undefined) return <Problem text={problem} />
  const revoke: Column<GrantSummary> = {
    name: 'Revoke',
    visuallyHidden: true,
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
      <ShowMore what="grants" more={more} />
      <Revoke what="grant" revoking={revoking}>
        {({ tool, caller }) => (
          <>
            From the next call on, <Visible text={caller} /> needs an approval again to call <Visible text={tool} />.
          </>
        )}
      </Revoke>
    </section>
  )
}
