/** The audit log of all tenants or one: search, export and verification. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditRecord, Operator } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import type { AuditQuery } from '../hooks.ts'
import { useQuery } from '../hooks.ts'
import { Empty, number, PageHeader, Problem, plural, Select, withAnyOption } from '../ui.tsx'
import { AuditRecords } from './audit-records.tsx'
import { Verify } from './audit-verify.tsx'

export function AuditPage({
  operator,
  query,
}: {
  readonly operator: Operator
  readonly query: AuditQuery
}): JSX.Element {
  const tenants = useQuery(() => callApi('listTenants', {}), '')
  const names = (tenants.data?.tenants ?? []).map(({ id }) => id)
  const [tenant, setTenant] = useState(query.tenant)
  if (tenants.data && names.length === 0)
    return (
      <>
        <PageHeader title="Audit" />
        <Empty title="No audit records yet">Add the plugin audit() to a server to record its calls.</Empty>
      </>
    )
  return (
    <>
      <Problem text={tenants.problem} />
      <Records
        key={tenant}
        mayExport={operator.scopes.includes('audit:export')}
        tenant={tenant}
        tenants={tenant === '' || names.includes(tenant) ? names : [tenant, ...names]}
        text={query.text}
        onTenant={setTenant}
      />
    </>
  )
}

interface Page {
  readonly records: readonly AuditRecord[]
  readonly before?: string
  readonly scanned: number
}

function Records(props: {
  readonly mayExport: boolean
  /** Empty for all tenants. */
  readonly tenant: string
  readonly tenants: readonly string[]
  readonly text: string
  readonly onTenant: (tenant: string) => void
}): JSX.Element {
  const { tenant, tenants } = props
  const [text, setText] = useState(props.text)
  const [query, setQuery] = useState(props.text)
  const search = { ...(tenant !== '' && { tenant }), ...(query !== '' && { text: query }) }
  const first = useQuery(() => callApi('listAudit', search), query)
  const [rest, setRest] = useState<{ readonly query: string; readonly pages: readonly Page[] }>({ query, pages: [] })
  const pages: readonly Page[] = [...(first.data ? [first.data] : []), ...(rest.query === query ? rest.pages : [])]
  const records = pages.flatMap((page) => page.records)
  const scanned = pages.reduce((sum, page) => sum + page.scanned, 0)
  const before = pages.at(-1)?.before
  const [problem, setProblem] = useState<string>()

  async function more(from: string): Promise<void> {
    const page = await callApi('listAudit', { ...search, before: from })
    setProblem(undefined)
    setRest({ query, pages: [...(rest.query === query ? rest.pages : []), page] })
  }
  return (
    <>
      <PageHeader title="Audit">
        <Select
          label="Tenant"
          value={tenant}
          options={withAnyOption('All tenants', tenants)}
          onChoose={props.onTenant}
        />
        <form
          class="inline"
          onSubmit={(event) => {
            event.preventDefault()
            setQuery(text.trim())
          }}
        >
          <input
            class="search"
            type="search"
            aria-label="Search the audit"
            placeholder="Caller, tool or reference"
            maxLength={256}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" class="button">
            Search
          </button>
        </form>
        {props.mayExport && (
          <>
            <Verify tenants={tenant === '' ? tenants : [tenant]} />
            {tenant !== '' && (
              <a class="button" href={`./api/audit/export?tenant=${encodeURIComponent(tenant)}`} download>
                Export
              </a>
            )}
          </>
        )}
      </PageHeader>
      <Problem text={first.problem ?? problem} />
      {first.data && records.length === 0 && (
        <Empty title={query === '' ? 'No records yet' : 'No matching records'}>
          {query === '' ? undefined : `${plural(scanned, 'record')} searched.`}
        </Empty>
      )}
      {records.length > 0 && <AuditRecords records={records} withTenant={tenant === ''} />}
      {before !== undefined && (
        <p class="more">
          <button
            type="button"
            class="button"
            onClick={() => {
              more(before).catch((thrown: unknown) => setProblem(problemOf(thrown)))
            }}
          >
            {query === '' ? 'Show older' : `Search further (${number(scanned)} searched)`}
          </button>
        </p>
      )}
    </>
  )
}
