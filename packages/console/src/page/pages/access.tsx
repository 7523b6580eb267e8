/** Who may call what: keys against the tools of a server, by tool or by key, with the reason for each refusal. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { KeyAccess, ToolAccess } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { usePages } from '../hooks.ts'
import type { Column } from '../table.tsx'
import { Dim, SubText, Table } from '../table.tsx'
import { Empty, PageHeader, Problem, Select, ShowMore, Visible } from '../ui.tsx'

export function AccessPage({ servers }: { readonly servers: readonly string[] }): JSX.Element {
  const [server, setServer] = useState(servers[0] ?? '')
  const [by, setBy] = useState<'tool' | 'key'>('tool')
  return (
    <>
      <PageHeader title="Who may call what">
        <fieldset class="tabs">
          <legend class="unseen">Rows</legend>
          {(['tool', 'key'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={by === each} onClick={() => setBy(each)}>
              By {each}
            </button>
          ))}
        </fieldset>
        <Select
          label="Server"
          value={server}
          options={servers.map((name) => [name, name] as const)}
          onChoose={setServer}
        />
      </PageHeader>
      {servers.length === 0 ? <Empty title="No servers yet" /> : <Access key={server} server={server} by={by} />}
    </>
  )
}

function Access({ server, by }: { readonly server: string; readonly by: 'tool' | 'key' }): JSX.Element {
  const { pages, problem, more } = usePages((after) => callApi('listAccess', { server, ...after }))
  const keys = pages?.flatMap((page) => page.keys)
  const hasTools = keys?.some(({ tools }) => tools.length > 0)
  return (
    <>
      <Problem text={problem} />
      <p class="lead dim">
        Valid API keys of callers, by their scopes, their tenant and the rules. Callers with tokens of an issuer are not
        listed. Limits are not considered.
      </p>
      {keys?.length === 0 && <Empty title="No valid API keys" />}
      {keys && keys.length > 0 && !hasTools && (
        <Empty title="No tools">This server has no tools now. Definitions to review are under Upstreams.</Empty>
      )}
      {keys && hasTools && (
        <Table
          label={by === 'tool' ? 'Access by tool' : 'Access by key'}
          columns={by === 'tool' ? columns('Tool') : columns('Key')}
          rows={by === 'tool' ? byTool(keys) : keys.map(byKey)}
        />
      )}
      <ShowMore what="keys" more={more} />
    </>
  )
}

interface AccessRow {
  readonly id: string
  readonly name: string
  readonly about: string | undefined
  readonly runs: readonly string[]
  readonly needsApproval: readonly string[]
  /** Names by the reason why not. */
  readonly refused: ReadonlyMap<string, readonly string[]>
}

const nameOf = ({ subject, tenant }: KeyAccess): string => (tenant === undefined ? subject : `${subject} (${tenant})`)

/** One row per tool. The names are those of the keys. */
function byTool(keys: readonly KeyAccess[]): readonly AccessRow[] {
  const tools = new Map<string, (readonly [string, ToolAccess])[]>()
  for (const key of keys)
    for (const tool of key.tools) tools.set(tool.name, [...(tools.get(tool.name) ?? []), [nameOf(key), tool]])
  return [...tools].map(([name, all]) => toRow(name, name, undefined, all))
}

/** One row per key. The names are those of the tools. */
const byKey = (key: KeyAccess): AccessRow =>
  toRow(
    `${key.key} ${key.tenant}`,
    nameOf(key),
    key.scopes.length === 0 ? 'no scopes' : key.scopes.join(', '),
    key.tools.map((tool) => [tool.name, tool] as const),
  )

function toRow(
  id: string,
  name: string,
  about: string | undefined,
  all: readonly (readonly [name: string, access: ToolAccess])[],
): AccessRow {
  const having = (...outcomes: readonly ToolAccess['outcome'][]): readonly string[] =>
    all.filter(([, { outcome }]) => outcomes.includes(outcome)).map(([each]) => each)
  const refused = new Map<string, readonly string[]>()
  for (const [each, { outcome, reason = 'refused' }] of all)
    if (outcome === 'refused') refused.set(reason, [...(refused.get(reason) ?? []), each])
  return {
    ...{ id, name, about, refused },
    runs: having('runs', 'dependsOnArguments'),
    needsApproval: having('needsApproval', 'dependsOnArguments'),
  }
}

const columns = (first: string): readonly Column<AccessRow>[] => [
  {
    name: first,
    show: ({ name, about }) => (
      <>
        <Visible text={name} />
        {about !== undefined && (
          <SubText>
            <Visible text={about} />
          </SubText>
        )}
      </>
    ),
  },
  { name: 'May call', show: ({ runs }) => names(runs) },
  { name: 'Needs an approval', show: ({ needsApproval }) => names(needsApproval) },
  {
    name: 'May not',
    show: ({ refused }) =>
      refused.size === 0 ? (
        <Dim>–</Dim>
      ) : (
        <ul class="reasons">
          {[...refused].map(([reason, all]) => (
            <li key={reason}>
              <Visible text={all.join(', ')} />
              <span class="sub bad-text">
                <Visible text={reason} />
              </span>
            </li>
          ))}
        </ul>
      ),
  },
]

const names = (all: readonly string[]): JSX.Element =>
  all.length === 0 ? <Dim>–</Dim> : <Visible text={all.join(', ')} />
