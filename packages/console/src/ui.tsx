/** Small components and formatters that all pages share. */

import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { markedPieces } from '../../sluice/src/approvals/text/marked-text.ts'
import { problemOf } from './client.ts'

/** Shows text from a caller, a tool or a client, with hidden characters marked. */
export const Visible = ({ text }: { readonly text: string }): JSX.Element => (
  <MarkedPieces text={text} ordinary={nothingOrdinary} />
)
/** Shows each line of such a text. Empty lines are left out, so that they cannot push the rest from the screen. */
export const VisibleLines = ({ text }: { readonly text: string }): JSX.Element => (
  <>
    {text.split(/\n+/).map((line, at) => (
      <Fragment key={at}>
        {at > 0 && <br />}
        <Visible text={line} />
      </Fragment>
    ))}
  </>
)
const nothingOrdinary = (): boolean => false

/** `ordinary` names the characters that are shown faintly instead of marked. */
export function MarkedPieces(props: {
  readonly text: string
  readonly ordinary: (character: string) => boolean
}): JSX.Element {
  return (
    <bdi class="visible">
      {markedPieces(props.text).map((piece) => {
        if (piece.kind === 'text') return piece.text
        const title = `${piece.code}${piece.kind === 'alike' && piece.like !== undefined ? `: looks like ${piece.like}` : ''}`
        if (props.ordinary(piece.text))
          return (
            <span class={piece.text === '\t' ? 'tab' : 'line-end'} title={title}>
              {piece.text === '\t' ? piece.text : '\u240d'}
            </span>
          )
        return (
          <span class={piece.kind} title={title}>
            {piece.kind === 'hidden' ? piece.code.replace(/^U\+[0-9A-F]+ (?!TAG)/, '') : piece.text}
          </span>
        )
      })}
    </bdi>
  )
}

type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'accent'

export const Chip = ({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone
  readonly children: ComponentChildren
}): JSX.Element => <span class={`chip ${tone}`}>{children}</span>

export const Hints = ({ hints }: { readonly hints: readonly string[] }): JSX.Element => (
  <>
    {hints.map((hint) => (
      <Chip key={hint} tone={hint === 'destructive' ? 'bad' : hint === 'read-only' ? 'good' : 'plain'}>
        {hint}
      </Chip>
    ))}
  </>
)

export const Empty = ({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}): JSX.Element => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children !== undefined && <p>{children}</p>}
  </div>
)

export const Problem = ({ text }: { readonly text: string | undefined }): JSX.Element | null =>
  text === undefined ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )

export function PageHeader(props: {
  readonly title: string
  /** Hides this title from screen readers, because the page has its heading elsewhere. */
  readonly visuallyHidden?: boolean
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <header class="head">
      {props.visuallyHidden ? (
        <p class="title" aria-hidden="true">
          {props.title}
        </p>
      ) : (
        <h1>{props.title}</h1>
      )}
      <div class="head-tools">{props.children}</div>
    </header>
  )
}

/** Scrolls sideways if needed, and is reachable by keyboard. */
export const TableBox = (props: { readonly label: string; readonly children: ComponentChildren }): JSX.Element => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
  <section class="table-box" aria-label={props.label} tabIndex={0}>
    {props.children}
  </section>
)

export interface SelectProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly onChoose: (value: string) => void
}

export const Select = ({ label, value, options, onChoose }: SelectProps): JSX.Element => (
  <label class="select">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      {options.map(([option, shown]) => (
        <option key={option} value={option}>
          {shown}
        </option>
      ))}
    </select>
  </label>
)

/** Puts an option for all values before the options for each name. */
export const withAnyOption = (word: string, names: readonly string[]): readonly (readonly [string, string])[] => [
  ['', word],
  ...names.map((name) => [name, name] as const),
]

/** Created once, because creating a formatter costs more than the rest of a row. */
const times = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

export const clockTime = (at: number): string => times.format(at)
export const minuteTime = (at: number): string => minutes.format(at)
export const dateTime = (at: number): string => dates.format(at)

export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export const milliseconds = (ms: number | undefined): string =>
  ms === undefined
    ? '–'
    : ms < 1
      ? '<1 ms'
      : ms < 10
        ? `${ms.toFixed(1)} ms`
        : ms < 1000
          ? `${Math.round(ms)} ms`
          : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`

export const number = (value: number): string => value.toLocaleString('en').replaceAll(',', '\u2009')

/** Returns `1 call` or `2 calls`. */
export const plural = (count: number, noun: string): string => `${number(count)} ${noun}${count === 1 ? '' : 's'}`

/** Asks for confirmation before an action that cannot be undone. Escape closes it. */
export function Confirm(props: {
  readonly title: string
  readonly children: ComponentChildren
  readonly action: string
  readonly onYes: () => void
  readonly onNo: () => void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={props.onNo}>
      <h2 id="confirm-title">{props.title}</h2>
      {props.children}
      <div class="actions">
        <button type="button" class="button" onClick={props.onNo}>
          Cancel
        </button>
        <button type="button" class="button danger" onClick={props.onYes}>
          {props.action}
        </button>
      </div>
    </dialog>
  )
}

export const ShowMore = (props: {
  readonly what: string
  readonly more: (() => void) | undefined
}): JSX.Element | null =>
  props.more === undefined ? null : (
    <p class="more">
      <button type="button" class="button" onClick={props.more}>
        Show more {props.what}
      </button>
    </p>
  )

export interface Revocation<T> {
  readonly chosen: T | undefined
  readonly problem: string | undefined
  choose(what: T | undefined): void
  /** Revokes the chosen item. */
  confirm(): void
}

export function useRevocation<T>(revoke: (what: T) => Promise<unknown>, then: () => void): Revocation<T> {
  const [chosen, choose] = useState<T>()
  const [problem, setProblem] = useState<string>()
  return {
    ...{ chosen, problem, choose: (what) => choose(() => what) },
    confirm() {
      choose(undefined)
      setProblem(undefined)
      if (chosen !== undefined) revoke(chosen).then(then, (thrown: unknown) => setProblem(problemOf(thrown)))
    },
  }
}

export function Revoke<T>(props: {
  readonly what: string
  readonly revoking: Revocation<T>
  /** Explains the consequence. */
  readonly children: (chosen: T) => ComponentChildren
}): JSX.Element | null {
  const { chosen, choose, confirm } = props.revoking
  if (chosen === undefined) return null
  return (
    <Confirm title={`Revoke this ${props.what}?`} action="Revoke" onYes={confirm} onNo={() => choose(undefined)}>
      <p>{props.children(chosen)}</p>
    </Confirm>
  )
}
