/** A form that calls a tool as a chosen key, through all layers of its server, and shows the answer. */

import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { KeySummary, Operator, ServerSummary, ToolAttempt, ToolSummary } from '../api/index.ts'
import { callApi, problemOf } from './client.ts'
import { Code, toLines } from './code.tsx'
import { serverNow, usePages } from './hooks.ts'
import { LayerPath } from './layer-path.tsx'
import { outcomeTone, outcomeWord } from './outcomes.ts'
import type { ArgumentField, FieldTexts, ReadArguments } from './tool-arguments.ts'
import { fieldsOf, readArguments, readJson } from './tool-arguments.ts'
import { Chip, milliseconds, Problem, ShowMore, Visible } from './ui.tsx'

interface TryToolProps {
  readonly tool: ToolSummary
  readonly server: ServerSummary
  readonly operator: Operator
}

export function TryTool({ tool, server, operator }: TryToolProps): JSX.Element {
  const fields = fieldsOf(tool.input)
  const [texts, setTexts] = useState<FieldTexts>({})
  const [json, setJson] = useState<string | undefined>(fields ? undefined : '{}')
  const [problems, setProblems] = useState<ReadArguments['problems']>({})
  const [problem, setProblem] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const [attempt, setAttempt] = useState<ToolAttempt>()
  const [caller, setCaller] = useState<Caller>()
  const form = useRef<HTMLFormElement>(null)
  const id = `try-${tool.server}-${tool.name}`
  const mayRun = operator.scopes.includes('tools:call')

  /** Returns the arguments, or shows what is wrong with them and moves the focus there. */
  function read(): ReadArguments['args'] | undefined {
    if (json !== undefined || !fields) {
      const args = readJson(json ?? '')
      setProblems(typeof args === 'string' ? { '': args } : {})
      return typeof args === 'string' ? undefined : args
    }
    const { args, problems: found } = readArguments(fields, texts)
    setProblems(found)
    const first = fields.find(({ name }) => name in found)
    if (!first) return args
    form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first.name)}"]`)?.focus()
    return undefined
  }
  async function run(): Promise<void> {
    const args = read()
    if (!args) return
    setRunning(true)
    setProblem(undefined)
    try {
      setAttempt(
        await callApi('tryTool', {
          ...{ server: tool.server, tool: tool.name, arguments: JSON.stringify(args) },
          ...(caller && { key: caller.key.id }),
          ...(caller?.tenant !== undefined && { tenant: caller.tenant }),
        }),
      )
    } catch (thrown) {
      setAttempt(undefined)
      setProblem(problemOf(thrown))
    } finally {
      setRunning(false)
    }
  }
  const needsKey = server.authenticated && !caller
  return (
    <section class="block try">
      <h3>Try it</h3>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          run().catch((thrown: unknown) => setProblem(problemOf(thrown)))
        }}
      >
        {json === undefined
          ? fields?.map((field) => (
              <Field
                key={field.name}
                id={`${id}-${field.name}`}
                field={field}
                text={texts[field.name] ?? ''}
                problem={problems[field.name]}
                onText={(text) => setTexts({ ...texts, [field.name]: text })}
              />
            ))
          : jsonField(id, json, problems[''], setJson)}
        {fields && (
          <p>
            <button
              type="button"
              class="button small quiet"
              onClick={() =>
                setJson(
                  json === undefined ? JSON.stringify(readArguments(fields, texts).args, undefined, 2) : undefined,
                )
              }
            >
              {json === undefined ? 'Write the arguments as JSON' : 'Back to the form'}
            </button>
          </p>
        )}
        {server.authenticated && <ChooseCaller id={id} caller={caller} onChoose={setCaller} />}
        <p class="dim">
          {mayRun
            ? 'The call runs for real, with the scopes, limits and approvals of the key. The audit names you and the key.'
            : 'You need the scope tools:call to run it.'}
        </p>
        <p>
          <button type="submit" class="button primary" disabled={!mayRun || needsKey || isRunning}>
            {isRunning ? 'Running…' : 'Run'}
          </button>
        </p>
      </form>
      <Problem text={problem} />
      <div role="status">{attempt && <Answer attempt={attempt} />}</div>
    </section>
  )
}

/** All arguments in one text. */
const jsonField = (
  id: string,
  text: string,
  problem: string | undefined,
  onText: (text: string) => void,
): JSX.Element => (
  <Field
    id={`${id}-json`}
    field={{ name: 'Arguments', kind: 'json', isRequired: true, description: undefined, choices: [] }}
    text={text}
    problem={problem}
    onText={onText}
  />
)

interface FieldProps {
  readonly id: string
  readonly field: ArgumentField
  readonly text: string
  readonly problem: string | undefined
  readonly onText: (text: string) => void
}

function Field({ id, field, text, problem, onText }: FieldProps): JSX.Element {
  const { name, kind, isRequired, description, choices } = field
  const common = {
    ...{ id, name, 'aria-required': isRequired, 'aria-invalid': problem !== undefined },
    'aria-describedby': `${id}-about`,
  }
  const control = (): JSX.Element => {
    if (kind === 'choice' || kind === 'boolean')
      return (
        <select {...common} value={text} onChange={(event) => onText(event.currentTarget.value)}>
          <option value="">{isRequired ? 'Choose…' : 'not set'}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice.replace(/^"(.*)"$/s, '$1')}
            </option>
          ))}
        </select>
      )
    if (kind === 'text' || kind === 'json')
      return (
        <textarea
          {...common}
          class={kind === 'json' ? 'json' : undefined}
          rows={kind === 'json' ? 3 : 1}
          spellcheck={false}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      )
    return (
      <input
        {...common}
        inputMode="decimal"
        autoComplete="off"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    )
  }
  return (
    <div class="field">
      <label for={id}>
        <Visible text={name} /> <span class="dim">{labelOf(kind, isRequired)}</span>
      </label>
      {control()}
      <p id={`${id}-about`} class={problem === undefined ? 'dim sub' : 'bad-text sub'}>
        {problem ?? (description !== undefined && <Visible text={description} />)}
      </p>
    </div>
  )
}

const labelOf = (kind: ArgumentField['kind'], isRequired: boolean): string =>
  `${kind === 'json' ? 'JSON' : kind}${isRequired ? ', required' : ''}`

interface Caller {
  readonly key: KeySummary
  /** Set if the key has several. */
  readonly tenant: string | undefined
}

function ChooseCaller(props: {
  readonly id: string
  readonly caller: Caller | undefined
  readonly onChoose: (caller: Caller | undefined) => void
}): JSX.Element {
  const { id, caller, onChoose } = props
  const { pages, problem, more } = usePages((after) => callApi('listKeys', after))
  const now = serverNow()
  const keys = (pages ?? [])
    .flatMap((page) => page.keys)
    .filter(({ revoked, expires }) => revoked === undefined && (expires ?? Number.POSITIVE_INFINITY) > now)
  const tenants = caller?.key.tenants ?? []
  const choose = (key: KeySummary | undefined): void =>
    onChoose(key && { key, tenant: key.tenants.length > 1 ? key.tenants[0] : undefined })
  return (
    <>
      <Problem text={problem} />
      <div class="field">
        <label for={`${id}-key`}>Run as</label>
        <select
          id={`${id}-key`}
          value={caller?.key.id ?? ''}
          onChange={(event) => choose(keys.find((key) => key.id === event.currentTarget.value))}
        >
          <option value="">Choose a key…</option>
          {keys.map((key) => (
            <option key={key.id} value={key.id}>
              {[key.subject, key.tenants.join(', '), `${key.prefix}…`].filter((text) => text !== '').join(' · ')}
            </option>
          ))}
        </select>
        {pages && keys.length === 0 && <p class="dim sub">No API key is valid now.</p>}
      </div>
      {caller && tenants.length > 1 && (
        <div class="field">
          <label for={`${id}-tenant`}>Tenant</label>
          <select
            id={`${id}-tenant`}
            value={caller.tenant}
            onChange={(event) => onChoose({ ...caller, tenant: event.currentTarget.value })}
          >
            {tenants.map((tenant) => (
              <option key={tenant} value={tenant}>
                {tenant}
              </option>
            ))}
          </select>
        </div>
      )}
      <ShowMore what="keys" more={more} />
    </>
  )
}

function Answer({ attempt }: { readonly attempt: ToolAttempt }): JSX.Element {
  const { outcome, failed, durationMs, ticket, answer, isWhole } = attempt
  return (
    <>
      <p class="try-outcome">
        <Chip tone={failed ? 'bad' : outcomeTone(outcome)}>{outcomeWord(outcome)}</Chip>
        <span class="dim">{milliseconds(durationMs)}</span>
        {ticket !== undefined && <a href={`#/approvals/${encodeURIComponent(ticket)}`}>Open its ticket</a>}
      </p>
      <Code label="Answer" small>
        {toLines(answer)}
      </Code>
      {!isWhole && <p class="dim">The answer is longer. This is its beginning.</p>}
      <LayerPath {...attempt} />
    </>
  )
}
