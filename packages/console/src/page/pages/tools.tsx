/** Every server and its tools: schemas, scopes, approval, and usage. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Operator, ServerSummary, ToolSummary } from '../../api/index.ts'
import { callApi } from '../client.ts'
import { Code, toLines } from '../code.tsx'
import { useQuery } from '../hooks.ts'
import { TryTool } from '../try-tool.tsx'
import { Chip, Empty, Hints, milliseconds, number, PageHeader, Problem, plural, Visible, VisibleLines } from '../ui.tsx'

export function ToolsPage({ operator }: { readonly operator: Operator }): JSX.Element {
  const { data, problem } = useQuery(() => callApi('listServers', {}), '')
  const [text, setText] = useState('')
  return (
    <>
      <PageHeader title="Tools">
        <input
          class="search"
          type="search"
          aria-label="Search tools"
          placeholder="Search tools"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </PageHeader>
      <Problem text={problem} />
      {data?.servers.length === 0 && <Empty title="No servers yet" />}
      {data?.servers.map((server) => (
        <ServerTools key={server.name} server={server} text={text.toLowerCase()} operator={operator} />
      ))}
    </>
  )
}

const maxShownTools = 300

function ServerTools(props: {
  readonly server: ServerSummary
  readonly text: string
  readonly operator: Operator
}): JSX.Element | null {
  const { server, text, operator } = props
  const found = server.tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(text))
  if (text !== '' && found.length === 0) return null
  return (
    <section class="server">
      <h2>
        <Visible text={server.title ?? server.name} /> <span class="dim">{server.version}</span>{' '}
        <span class="dim tokens" title={tokenRule}>
          {server.tools.length === 0
            ? 'no tools'
            : `about ${number(server.tokens)} tokens for ${plural(server.tools.length, 'tool')}`}
        </span>
      </h2>
      {server.description !== undefined && (
        <p class="dim">
          <VisibleLines text={server.description} />
        </p>
      )}
      {server.rules.length > 0 && (
        <details class="rules">
          <summary>{plural(server.rules.length, 'approval rule')}; the first match decides</summary>
          <ol>
            {server.rules.map(({ place, text: words }) => (
              <li key={place}>
                <Visible text={words} />
              </li>
            ))}
          </ol>
        </details>
      )}
      <div class="cards">
        {found.slice(0, maxShownTools).map((tool) => (
          <ToolCard key={tool.name} tool={tool} server={server} operator={operator} />
        ))}
      </div>
      {found.length > maxShownTools && (
        <p class="dim">{plural(found.length - maxShownTools, 'more tool')}: search for one by name.</p>
      )}
    </section>
  )
}

/** The rule of the estimate, which the API documents too. */
const tokenRule = 'An estimate: the characters of the definitions, divided by 4'

function ToolCard(props: {
  readonly tool: ToolSummary
  readonly server: ServerSummary
  readonly operator: Operator
}): JSX.Element {
  const { tool, server, operator } = props
  const [isTrying, setTrying] = useState(false)
  return (
    <details class="card">
      <summary>
        <span class="card-head">
          <span class="tool-name">
            <Visible text={tool.name} />
          </span>
          {tool.approval !== 'never' && <Chip tone="accent">approval: {tool.approval}</Chip>}
          <Hints hints={tool.hints} />
          <span class="card-count">
            {plural(tool.calls, 'call')}
            {tool.errors > 0 && <span class="bad-text"> · {plural(tool.errors, 'error')}</span>}
          </span>
        </span>
        <span class="card-text">
          <VisibleLines text={tool.description} />
        </span>
      </summary>
      <dl class="facts">
        <div>
          <dt>Required scopes</dt>
          <dd>
            {tool.scopes.length === 0
              ? 'none'
              : tool.scopes.map((scope) => (
                  <code key={scope}>
                    <Visible text={scope} />
                  </code>
                ))}
          </dd>
        </div>
        <div>
          <dt>Approval</dt>
          <dd>{tool.approval}</dd>
        </div>
        <div>
          <dt>Definition</dt>
          <dd title={tokenRule}>about {number(tool.tokens)} tokens</dd>
        </div>
        <div>
          <dt>Timeout</dt>
          <dd>{tool.timeoutMs === 0 ? 'none' : milliseconds(tool.timeoutMs)}</dd>
        </div>
      </dl>
      {isTrying ? (
        <TryTool tool={tool} server={server} operator={operator} />
      ) : (
        <p>
          <button type="button" class="button" onClick={() => setTrying(true)}>
            Try it<span class="unseen"> {tool.name}</span>
          </button>
        </p>
      )}
      <Schema title="Input" schema={tool.input} />
      {tool.output !== undefined && <Schema title="Output" schema={tool.output} />}
    </details>
  )
}

function Schema({ title, schema }: { readonly title: string; readonly schema: unknown }): JSX.Element {
  return (
    <section class="block">
      <h3>{title}</h3>
      <Code label={`${title} schema`} small>
        {toLines(JSON.stringify(schema, undefined, 2) ?? '')}
      </Code>
    </section>
  )
}
