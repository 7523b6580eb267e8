/** Text in lines with numbers, scrolled within its box. */

import type { ComponentChildren, JSX } from 'preact'
import { Visible } from './ui.tsx'

export function Code(props: {
  readonly label: string
  readonly small?: boolean
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class={`code ${props.small ? 'small' : ''}`} aria-label={props.label} tabIndex={0}>
      <pre>{props.children}</pre>
    </section>
  )
}

/** Each line is shown by itself: nothing in one can change how another looks. */
export const toLines = (text: string): readonly JSX.Element[] =>
  text.split('\n').map((line, at) => (
    <code key={String(at)} class="line">
      <Visible text={line} />
      {'\n'}
    </code>
  ))
