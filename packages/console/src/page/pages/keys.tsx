/** The API keys of callers, with a button to revoke each. */

import type { JSX } from 'preact'
import type { KeySummary } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { serverNow, usePages } from '../hooks.ts'
import type { Column } from '../table.tsx'
import { Dim, SubText, Table } from '../table.tsx'
import { ago, Chip, dateTime, Empty, Problem, Revoke, ShowMore, useRevocation, Visible } from '../ui.tsx'

const columns: readonly Column<KeySummary>[] = [
  {
    name: 'Key',
    show: ({ prefix, label }) => (
      <>
        <code>
          <Visible text={prefix} />…
        </code>
        {label !== '' && (
          <SubText>
            <Visible text={label} />
          </SubText>
        )}
      </>
    ),
  },
  { name: 'Subject', show: ({ subject }) => <Visible text={subject} /> },
  { name: 'Tenants', show: ({ tenants }) => (tenants.length === 0 ? <Dim>–</Dim> : listOf(tenants)) },
  { name: 'Scopes', show: ({ scopes }) => (scopes.length === 0 ? <Dim>none</Dim> : listOf(scopes)) },
  {
    name: 'Last use',
    show: ({ lastUse }) => (lastUse === undefined ? <Dim>never</Dim> : `${ago(serverNow() - lastUse)} ago`),
  },
  { name: 'Expires', show: ({ expires }) => (expires === undefined ? <Dim>never</Dim> : dateTime(expires)) },
]
const listOf = (names: readonly string[]): JSX.Element => <Visible text={names.join(', ')} />

export function Keys({ mayRevoke }: { readonly mayRevoke: boolean }): JSX.Element {
  const { pages, problem, more, reload } = usePages((after) => callApi('listKeys', after))
  const revoking = useRevocation<KeySummary>(({ id }) => callApi('revokeKey', { id }), reload)
  if (!pages) return <Problem text={problem} />
  const keys = pages.flatMap((page) => page.keys)
  const revoke: Column<KeySummary> = {
    name: 'Revoke',
    visuallyHidden: true,
    right: true,
    show: (key) =>
      key.revoked === undefined ? (
        <button type="button" class="button small" disabled={!mayRevoke} onClick={() => revoking.choose(key)}>
          Revoke<span class="unseen"> {key.prefix}</span>
        </button>
      ) : (
        <Chip>revoked {ago(serverNow() - key.revoked)} ago</Chip>
      ),
  }
  return (
    <section>
      <h2>Keys</h2>
      <Problem text={revoking.problem ?? problem} />
      {keys.length === 0 ? (
        <Empty title="No API keys yet" />
      ) : (
        <Table
          label="Keys"
          columns={[...columns, revoke]}
          rows={keys}
          isOver={({ revoked }) => revoked !== undefined}
        />
      )}
      <ShowMore what="keys" more={more} />
      <Revoke what="key" revoking={revoking}>
        {({ prefix, subject }) => (
          <>
            Calls with the key <code>{prefix}…</code> (<Visible text={subject} />) are refused everywhere within five
            seconds. This cannot be undone.
          </>
        )}
      </Revoke>
    </section>
  )
}
