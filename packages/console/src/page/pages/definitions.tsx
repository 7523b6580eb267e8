/** New and changed definitions of an upstream, with the difference to the accepted ones, to accept or reject. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { DefinitionDiffView } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { Code } from '../code.tsx'
import { useQuery } from '../hooks.ts'
import { Chip, dateTime, Problem, Visible } from '../ui.tsx'

interface DefinitionsProps {
  readonly upstream: string
  readonly mayManage: boolean
  /** Changes when the definitions may have changed. */
  readonly version: string
  readonly onChange: () => void
}

export function Definitions({ upstream, mayManage, version, onChange }: DefinitionsProps): JSX.Element | null {
  const { data, problem, reload } = useQuery(() => callApi('getDefinitions', { name: upstream }), version)
  if (!data) return <Problem text={problem} />
  if (data.definitions.length === 0) return null
  return (
    <section class="block">
      <h3>Definitions that differ from the accepted ones</h3>
      <Problem text={problem} />
      {data.definitions.map((definition) => (
        <Definition
          key={`${definition.id} ${definition.hash}`}
          upstream={upstream}
          definition={definition}
          mayManage={mayManage}
          onDecided={() => {
            reload()
            onChange()
          }}
        />
      ))}
    </section>
  )
}

const tones = { new: 'accent', changed: 'warn', gone: 'plain' } as const

function Definition(props: {
  readonly upstream: string
  readonly definition: DefinitionDiffView
  readonly mayManage: boolean
  readonly onDecided: () => void
}): JSX.Element {
  const { upstream, definition, mayManage, onDecided } = props
  const { id, kind, name, state, hash, marks, lines, rejected } = definition
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  function decide(accepted: boolean): void {
    setBusy(true)
    callApi('decideDefinition', { name: upstream, id, hash, accepted })
      .then(onDecided, (thrown: unknown) => setProblem(problemOf(thrown)))
      .finally(() => setBusy(false))
  }
  const what = kind === 'instructions' ? 'the instructions' : `${kind} ${name}`
  return (
    <article class="definition" aria-label={what}>
      <p class="card-head">
        <span>
          {kind} <Visible text={kind === 'instructions' ? '' : name} />
        </span>
        <Chip tone={tones[state]}>{state}</Chip>
        {rejected && (
          <span class="dim">
            rejected by <Visible text={rejected.by} />, {dateTime(rejected.at)}
          </span>
        )}
      </p>
      {marks.map((mark) => (
        <p key={mark} class="warning">
          <Visible text={mark} />
        </p>
      ))}
      {lines.length > 0 && (
        <Code label={`Difference of ${what}`} small>
          {lines.map(({ change, text }, at) => (
            <code key={String(at)} class={`line ${change}`}>
              <span class="sign">{signs[change]}</span>
              {change !== 'same' && <span class="unseen">{change}: </span>}
              <Visible text={text} />
              {'\n'}
            </code>
          ))}
        </Code>
      )}
      <Problem text={problem} />
      {state !== 'gone' && (
        <p class="actions">
          {!rejected && (
            <button type="button" class="button danger" disabled={!mayManage || isBusy} onClick={() => decide(false)}>
              Reject<span class="unseen"> {what}</span>
            </button>
          )}
          <button type="button" class="button primary" disabled={!mayManage || isBusy} onClick={() => decide(true)}>
            Accept<span class="unseen"> {what}</span>
          </button>
        </p>
      )}
    </article>
  )
}

const signs = { same: '  ', added: '+ ', removed: '− ' } as const
