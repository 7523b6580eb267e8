/** Tenants with what they use, the keys that open their data, and what was allowed for good. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Grant, Key, Operator, Output, Tenant } from '../../../sluice/src/operate/console/api.ts'
import { ask, problemOf } from '../client.ts'
import { serverNow, useAsked } from '../hooks.ts'
import { ago, Chip, Confirm, dateTime, Empty, Head, milliseconds, number, Problem, TableBox, Visible } from '../ui.tsx'

export function TenantsPage({ operator }: { readonly operator: Operator }): JSX.Element {
  const tenants = useAsked(() => ask('listTenants', {}), '')
  const keys = useAsked(() => ask('listKeys', {}), '')
  const [more, setMore] = useState<readonly Output<'listKeys'>[]>([])
  const next = (more.at(-1) ?? keys.data)?.next
  const grants = useAsked(() => ask('listGrants', {}), '')
  return (
    <>
      <Head title="Tenants and keys">
        <button type="button" class="button" onClick={tenants.again}>
          Refresh
        </button>
      </Head>
      <Problem text={tenants.problem ?? keys.problem ?? grants.problem} />
      {tenants.data && <Tenants tenants={tenants.data.tenants} />}
      {keys.data && (
        <Keys
          keys={[keys.data, ...more].flatMap((page) => page.keys)}
          mayRevoke={operator.scopes.includes('keys:manage')}
          onRevoked={() => {
            setMore([])
            keys.again()
          }}
        />
      )}
      {next !== undefined && (
        <p class="more">
          <button
            type="button"
            class="button"
            onClick={() => void ask('listKeys', { after: next }).then((page) => setMore([...more, page]))}
          >
            Show more keys
          </button>
        </p>
      )}
      {grants.data && grants.data.grants.length > 0 && (
        <Grants
          grants={grants.data.grants}
          mayRevoke={operator.scopes.includes('approvals:decide')}
          onRevoked={grants.again}
        />
      )}
    </>
  )
}

function Tenants({ tenants }: { readonly tenants: readonly Tenant[] }): JSX.Element {
  if (tenants.length === 0) return <Empty title="No tenant was seen yet" />
  return (
    <section>
      <h2>Tenants</h2>
      <TableBox label="Tenants">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Tenant</th>
              <th scope="col">Limits used</th>
              <th scope="col" class="right">
                Calls, last minute
              </th>
              <th scope="col" class="right">
                Errors
              </th>
              <th scope="col" class="right">
                Refused by limits
              </th>
              <th scope="col" class="right">
                95th percentile
              </th>
            </tr>
          </thead>
          <tbody>
            {tenants.map((tenant) => (
              <tr key={tenant.id}>
                <th scope="row">
                  <Visible text={tenant.id} />
                  <span class="dim sub">
                    {tenant.servers.length === 0 ? 'quiet' : <Visible text={tenant.servers.join(', ')} />}
                  </span>
                </th>
                <td>
                  <Limits tenant={tenant} />
                </td>
                <td class="right">{number(tenant.calls)}</td>
                <td class={`right ${tenant.errors > 0 ? 'bad-text' : ''}`}>{number(tenant.errors)}</td>
                <td class={`right ${tenant.limited > 0 ? 'warn-text' : ''}`}>{number(tenant.limited)}</td>
                <td class="right">{milliseconds(tenant.p95)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}

/** What is in use; of what is not, only how much there would be. */
function Limits({ tenant }: { readonly tenant: Tenant }): JSX.Element {
  const limits = tenant.limits ?? []
  const used = limits.filter((limit) => limit.used > 0)
  if (used.length === 0) {
    const room = limits.find(({ most }) => most > 0)
    return <span class="dim">{room ? `idle, ${number(room.most)} ${room.name} for each server` : 'none'}</span>
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

function Keys(props: {
  readonly keys: readonly Key[]
  readonly mayRevoke: boolean
  readonly onRevoked: () => void
}): JSX.Element {
  const [chosen, setChosen] = useState<Key>()
  const [problem, setProblem] = useState<string>()
  const now = serverNow()
  async function revoke(key: Key): Promise<void> {
    setChosen(undefined)
    await ask('revokeKey', { id: key.id }).then(props.onRevoked, (thrown: unknown) => setProblem(problemOf(thrown)))
  }
  return (
    <section>
      <h2>Keys</h2>
      <Problem text={problem} />
      {props.keys.length === 0 ? (
        <Empty title="No API keys were made" />
      ) : (
        <TableBox label="Keys">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Who</th>
                <th scope="col">Tenants</th>
                <th scope="col">Scopes</th>
                <th scope="col">Last use</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span class="unseen">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {props.keys.map((key) => (
                <tr key={key.id} class={key.revoked === undefined ? '' : 'over'}>
                  <th scope="row">
                    <code>
                      <Visible text={key.prefix} />…
                    </code>
                    {key.label !== '' && (
                      <span class="dim sub">
                        <Visible text={key.label} />
                      </span>
                    )}
                  </th>
                  <td>
                    <Visible text={key.subject} />
                  </td>
                  <td>
                    {key.tenants.length === 0 ? <span class="dim">–</span> : <Visible text={key.tenants.join(', ')} />}
                  </td>
                  <td>
                    {key.scopes.length === 0 ? <span class="dim">none</span> : <Visible text={key.scopes.join(', ')} />}
                  </td>
                  <td>
                    {key.lastUse === undefined ? <span class="dim">never</span> : `${ago(now - key.lastUse)} ago`}
                  </td>
                  <td>{key.expires === undefined ? <span class="dim">never</span> : dateTime(key.expires)}</td>
                  <td class="right">
                    {key.revoked === undefined ? (
                      <button
                        type="button"
                        class="button small"
                        disabled={!props.mayRevoke}
                        onClick={() => setChosen(key)}
                      >
                        Revoke<span class="unseen"> {key.prefix}</span>
                      </button>
                    ) : (
                      <Chip>revoked {ago(now - key.revoked)} ago</Chip>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
      {chosen && (
        <Confirm
          title="Revoke this key?"
          action="Revoke"
          onYes={() => void revoke(chosen)}
          onNo={() => setChosen(undefined)}
        >
          <p>
            Whoever calls with <code>{chosen.prefix}…</code> (<Visible text={chosen.subject} />) is refused everywhere
            within five seconds. This cannot be undone.
          </p>
        </Confirm>
      )}
    </section>
  )
}

function Grants(props: {
  readonly grants: readonly Grant[]
  readonly mayRevoke: boolean
  readonly onRevoked: () => void
}): JSX.Element {
  return (
    <section>
      <h2>Standing grants</h2>
      <TableBox label="Standing grants">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col">Caller</th>
              <th scope="col">Arguments</th>
              <th scope="col">Given by</th>
              <th scope="col">Ends</th>
              <th scope="col">
                <span class="unseen">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {props.grants.map((grant) => (
              <tr key={grant.id}>
                <th scope="row">
                  <Visible text={grant.tool} />
                  <span class="dim sub">
                    <Visible text={grant.server} />
                  </span>
                </th>
                <td>
                  <Visible text={`${grant.caller} · ${grant.tenant}`} />
                </td>
                <td>
                  <code>
                    <Visible text={grant.arguments} />
                  </code>
                </td>
                <td>
                  <Visible text={grant.by} />
                </td>
                <td>{dateTime(grant.expiresAt)}</td>
                <td class="right">
                  <button
                    type="button"
                    class="button small"
                    disabled={!props.mayRevoke}
                    onClick={() => void ask('revokeGrant', { id: grant.id }).finally(props.onRevoked)}
                  >
                    Revoke
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </section>
  )
}
