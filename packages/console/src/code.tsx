/** Numbered lines of text in a scrolling box. */

import type { ComponentChildren, JSX } from 'preact'
import { Visible } from './ui.tsx'

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
