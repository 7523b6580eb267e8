/** Tenants with their usage, API keys and grants. */

import type { JSX } from 'preact'
import type { Operator, TenantSummary } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { useQuery } from '../hooks.ts'
import type { Column } from '../table.tsx'
import { Dim, SubText, Table } from '../table.tsx'
import { Empty, milliseconds, number, PageHeader, Problem, Visible } from '../ui.tsx'
import { Grants } from './grants.tsx'
import { Keys } from './keys.tsx'

export function TenantsPage({ operator }: { readonly operator: Operator }): JSX.Element {
  const { data, problem, reload } = useQuery(() => callApi('listTenants', {}), '')
  return (
    <>
      <PageHeader title="Tenants and keys">
        <button type="button" class="button" onClick={reload}>
          Refresh
        </button>
      </PageHeader>
      <Problem text={problem} />
      {data && <Tenants tenants={data.tenants} />}
      <Keys mayRevoke={operator.scopes.includes('keys:manage')} />
      <Grants mayRevoke={operator.scopes.includes('approvals:decide')} />
    </>
  )
}

const columns: readonly Column<TenantSummary>[] = [
  {
    name: 'Tenant',
    show: ({ id, servers }) => (
      <>
        <Visible text={id} />
        <SubText>{servers.length === 0 ? 'idle' : <Visible text={servers.join(', ')} />}</SubText>
      </>
    ),
  },
  { name: 'Limits used', show: (tenant) => <Limits tenant={tenant} /> },
  { name: 'Calls, last minute', right: true, show: ({ calls }) => number(calls) },
  {
    name: 'Errors',
    right: true,
    tone: ({ errors }) => (errors > 0 ? 'bad-text' : ''),
    show: ({ errors }) => number(errors),
  },
  {
    name: 'Refused by limits',
    right: true,
    tone: ({ limited }) => (limited > 0 ? 'warn-text' : ''),
    show: ({ limited }) => number(limited),
  },
  { name: '95th percentile', right: true, show: ({ p95 }) => milliseconds(p95) },
]

function Tenants({ tenants }: { readonly tenants: readonly TenantSummary[] }): JSX.Element {
  if (tenants.length === 0) return <Empty title="No tenants yet" />
  return (
    <section>
      <h2>Tenants</h2>
      <Table label="Tenants" columns={columns} rows={tenants} />
    </section>
  )
}

/** Shows the limits in use. If none is, shows only how much is available. */
function Limits({ tenant }: { readonly tenant: TenantSummary }): JSX.Element {
  const limits = tenant.limits ?? []
  const used = limits.filter((limit) => limit.used > 0)
  if (used.length === 0) {
    const available = limits.find(({ most }) => most > 0)
    return <Dim>{available ? `idle, up to ${number(available.most)} ${available.name} for each server` : 'none'}</Dim>
  }
  return (
    <ul class="limits">
      {used.map(({ server, name, used: taken, most }) => (
        <li key={`${server} ${name}`}>
          <meter min={0} max={most} high={most * 0.8} value={taken} aria-label={`${name}, ${server}`} />
          <span>
            {number(taken)} of {number(most)} {name}, <Visible text={server} />
          </span>
        </li>
      ))}
    </ul>
  )
}
