/** Numbered lines of text in a scrolling box. */

import type { ComponentChildren, JSX } from 'preact'
import { markedPieces } from '../../sluice/src/approvals/text/marked-text.ts'
import type { ListedLine } from './arguments.ts'
import { MarkedPieces, Visible } from './ui.tsx'

export function Code(props: {
  readonly label: string
  readonly small?: boolean
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
    <section class={`code ${props.small ? 'small' : ''}`} aria-label={props.label} tabIndex={0}>
      <pre>{props.children}</pre>
    </section>
  )
}

/** Renders each line separately, so that nothing in one line can change how another looks. */
export const toLines = (text: string): readonly JSX.Element[] =>
  text.split('\n').map((line, at) => (
    <code key={String(at)} class="line">
      <Visible text={line} />
      {'\n'}
    </code>
  ))

/** Tabs and the carriage return of a Windows line end are ordinary in text with lines. They are shown, but not counted. */
const isOrdinary = (character: string): boolean => character === '\t' || character === '\r'

export const countHidden = (text: string): number =>
  markedPieces(text).filter((piece) => piece.kind !== 'text' && !isOrdinary(piece.text)).length

/** Says how many characters of a listing are marked. */
export const HiddenWarning = ({ count }: { readonly count: number }): JSX.Element | null =>
  count === 0 ? null : (
    <p class="warning" role="alert">
      {count === 1
        ? 'One character is invisible or looks like another. It is marked below.'
        : `${count} characters are invisible or look like others. They are marked below.`}
    </p>
  )

export const ListedLines = ({ lines }: { readonly lines: readonly ListedLine[] }): JSX.Element => (
  <>
    {lines.map((line, at) => (
      <code key={String(at)} class={line.isContinued ? 'line continued' : 'line'}>
        <MarkedPieces text={line.text} ordinary={isOrdinary} />
        {line.block !== undefined && (
          <>
            <span class="block-ref">
              see <Visible text={line.block} /> below
            </span>
            {line.after}
          </>
        )}
        {'\n'}
      </code>
    ))}
  </>
)
