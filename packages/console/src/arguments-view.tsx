/** Shows arguments to an approver: complete, indented, with hidden characters marked. */

import type { JSX } from 'preact'
import { Fragment } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { markedPieces } from '../../sluice/src/approvals/marked-text.ts'
import { chunksOf, indented } from './arguments.ts'
import { Code, toLines } from './code.tsx'

interface RenderedChunk {
  readonly element: JSX.Element
  readonly hidden: number
}

/** Renders one chunk at a time, so that a megabyte does not block the page. Calls `onWhole` after the last one. */
export function Arguments({ text, onWhole }: { readonly text: string; readonly onWhole?: () => void }): JSX.Element {
  const chunks = useMemo(() => chunksOf(indented(text)), [text])
  const [rendered, setRendered] = useState<readonly RenderedChunk[]>([])
  const isWhole = rendered.length >= chunks.length
  useEffect(() => {
    if (isWhole) {
      onWhole?.()
      return undefined
    }
    // Elements are kept, because the renderer skips an unchanged element when the next one is added.
    const add = (): void => setRendered((done) => [...done, renderChunk(chunks[done.length] ?? '', done.length)])
    const timer = setTimeout(add, 0)
    return () => clearTimeout(timer)
  }, [rendered, chunks, isWhole, onWhole])
  const hidden = rendered.reduce((sum, chunk) => sum + chunk.hidden, 0)
  return (
    <>
      {hidden > 0 && (
        <p class="warning" role="alert">
          {hidden === 1
            ? 'One character is invisible or looks like another. It is marked below.'
            : `${hidden} characters are invisible or look like others. They are marked below.`}
        </p>
      )}
      <Code label="Arguments, as JSON">{rendered.map(({ element }) => element)}</Code>
    </>
  )
}

/** Splits at line breaks, which only the indentation adds. Inside JSON strings they are written as \n. */
function renderChunk(chunk: string, at: number): RenderedChunk {
  const text = chunk.replace(/\n$/, '')
  const hidden = text
    .split('\n')
    .flatMap(markedPieces)
    .filter(({ kind }) => kind !== 'text').length
  return { element: <Fragment key={at}>{toLines(text)}</Fragment>, hidden }
}
