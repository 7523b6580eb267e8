/** The audit log: search, export and verification. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditCheckResult, AuditRecord, Operator } from '../../../sluice/src/operate/console/api.ts'
import { callApi, problemOf } from '../client.ts'
import { useQuery } from '../hooks.ts'
import { Chip, dateTime, Empty, number, PageHeader, Problem, Select, TableBox, Visible } from '../ui.tsx'

export function AuditPage({ operator }: { readonly operator: Operator }): JSX.Element {
  const tenants = useQuery(() => callApi('listTenants', {}), '')
  const [chosen, setChosen] = useState<string>()
  const tenant = chosen ?? tenants.data?.tenants[0]?.id
  if (tenants.data && tenant === undefined)
    return (
      <>
        <PageHeader title="Audit" />
        <Empty title="No audit records yet">Add the plugin audit() to a server to record its calls.</Empty>
      </>
    )
  return (
    <>
      <Problem text={tenants.problem} />
      {tenant !== undefined && (
        <Records
          key={tenant}
          mayExport={operator.scopes.includes('audit:export')}
          tenant={tenant}
          tenants={(tenants.data?.tenants ?? []).map(({ id }) => id)}
          onTenant={setChosen}
        />
      )}
    </>
  )
}

interface Page {
  readonly records: readonly AuditRecord[]
  readonly before?: number
  readonly scanned: number
}

function Records(props: {
  readonly mayExport: boolean
  readonly tenant: string
  readonly tenants: readonly string[]
  readonly onTenant: (tenant: string) => void
}): JSX.Element {
  const { tenant } = props
  const [text, setText] = useState('')
  const [query, setQuery] = useState('')
  const first = useQuery(() => callApi('listAudit', { tenant, ...(query !== '' && { text: query }) }), query)
  const [rest, setRest] = useState<{ readonly query: string; readonly pages: readonly Page[] }>({ query, pages: [] })
  const pages: readonly Page[] = [...(first.data ? [first.data] : []), ...(rest.query === query ? rest.pages : [])]
  const records = pages.flatMap((page) => page.records)
  const scanned = pages.reduce((sum, page) => sum + page.scanned, 0)
  const before = pages.at(-1)?.before
  const [problem, setProblem] = useState<string>()

  async function more(from: number): Promise<void> {
    const page = await callApi('listAudit', { tenant, before: from, ...(query !== '' && { text: query }) })
    setProblem(undefined)
    setRest({ query, pages: [...(rest.query === query ? rest.pages : []), page] })
  }
  return (
    <>
      <PageHeader title="Audit">
        <Select
          label="Tenant"
          value={tenant}
          options={props.tenants.map((id) => [id, id] as const)}
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
            placeholder="Search for a caller, tool, reference…"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <button type="submit" class="button">
            Search
          </button>
        </form>
        {props.mayExport && (
          <>
            <Verify tenant={tenant} />
            <a class="button" href={`./api/audit/export?tenant=${encodeURIComponent(tenant)}`} download>
              Export
            </a>
          </>
        )}
      </PageHeader>
      <Problem text={first.problem ?? problem} />
      {first.data && records.length === 0 && (
        <Empty title={query === '' ? 'No records for this tenant' : 'No matching records'}>
          {query === '' ? undefined : `${number(scanned)} records were searched.`}
        </Empty>
      )}
      {records.length > 0 && (
        <TableBox label="Audit records">
          <table class="table audit">
            <caption class="unseen">Audit records, newest first</caption>
            <thead>
              <tr>
                <th scope="col" class="right">
                  No.
                </th>
                <th scope="col">Time</th>
                <th scope="col">Event</th>
                <th scope="col">Target</th>
                <th scope="col">Caller</th>
                <th scope="col">Outcome</th>
                <th scope="col">
                  <span class="unseen">All fields</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {records.map((record) => (
                <RecordRow key={record.seq} record={record} />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
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

function RecordRow({ record }: { readonly record: AuditRecord }): JSX.Element {
  const [open, setOpen] = useState(false)
  const { seq, at, kind, hash, fields } = record
  const outcome = fields['outcome'] ?? fields['reason'] ?? ''
  return (
    <>
      <tr>
        <td class="right dim">{seq}</td>
        <td class="time">{dateTime(at)}</td>
        <td>
          <Visible text={kind} />
        </td>
        <td class="tool-name">
          <Visible text={fields['target'] ?? fields['tool'] ?? fields['ticket'] ?? fields['key'] ?? ''} />
        </td>
        <td>
          <Visible text={fields['caller'] ?? fields['by'] ?? ''} />
        </td>
        <td>{outcome !== '' && <Chip tone={outcome === 'complete' ? 'good' : 'bad'}>{outcome}</Chip>}</td>
        <td class="right">
          <button type="button" class="button small quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Less' : 'More'}
            <span class="unseen"> of record {seq}</span>
          </button>
        </td>
      </tr>
      {open && (
        <tr class="fields">
          <td colSpan={7}>
            <dl class="facts">
              {Object.entries({ ...fields, hash }).map(([name, value]) => (
                <div key={name}>
                  <dt>
                    <Visible text={name} />
                  </dt>
                  <dd>
                    <code>
                      <Visible text={value} />
                    </code>
                  </dd>
                </div>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </>
  )
}

function Verify({ tenant }: { readonly tenant: string }): JSX.Element {
  const [verdict, setVerdict] = useState<AuditCheckResult | string>()
  const [busy, setBusy] = useState(false)
  async function verify(): Promise<void> {
    setBusy(true)
    setVerdict(await callApi('verifyAudit', { tenant }).catch(problemOf))
    setBusy(false)
  }
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={busy}
        onClick={() => {
          verify().catch((thrown: unknown) => setVerdict(problemOf(thrown)))
        }}
      >
        Verify chain
      </button>
      <span role="status" class="verdict">
        {verdict !== undefined && <VerdictChip verdict={verdict} />}
      </span>
    </>
  )
}

function VerdictChip({ verdict }: { readonly verdict: AuditCheckResult | string }): JSX.Element {
  if (typeof verdict === 'string') return <Chip tone="bad">{verdict}</Chip>
  const { checkpoint } = verdict
  if (checkpoint?.defect)
    return (
      <Chip tone="bad">
        record {checkpoint.defect.seq} was {checkpoint.defect.problem} when it was pruned
      </Chip>
    )
  if (verdict.intact)
    return (
      <Chip tone="good">
        <span title={`Head ${verdict.head ?? ''}`}>
          {number(verdict.records ?? 0)} records{checkpoint && `, from ${number(checkpoint.seq + 1)} on`}, intact
        </span>
      </Chip>
    )
  return (
    <Chip tone="bad">
      record {verdict.seq} is {verdict.problem}
    </Chip>
  )
}
