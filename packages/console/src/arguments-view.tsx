/** Arguments as an approver reads them: whole, indented, with what is hidden made visible. */

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

/** A piece at a time, so that a megabyte does not stop the page; `onWhole` when the last one stands there. */
export function Arguments({ text, onWhole }: { readonly text: string; readonly onWhole?: () => void }): JSX.Element {
  const chunks = useMemo(() => chunksOf(indented(text)), [text])
  const [parts, setParts] = useState<readonly RenderedChunk[]>([])
  const isWhole = parts.length >= chunks.length
  useEffect(() => {
    if (isWhole) {
      onWhole?.()
      return undefined
    }
    // Elements are kept: the same one is not looked at again when the next is added.
    const add = (): void => setParts((made) => [...made, renderChunk(chunks[made.length] ?? '', made.length)])
    const timer = setTimeout(add, 0)
    return () => clearTimeout(timer)
  }, [parts, chunks, isWhole, onWhole])
  const hidden = parts.reduce((sum, part) => sum + part.hidden, 0)
  return (
    <>
      {hidden > 0 && (
        <p class="warning" role="alert">
          {hidden === 1
            ? 'One character would not be seen, or be taken for another. It is marked below.'
            : `${hidden} characters would not be seen, or be taken for others. They are marked below.`}
        </p>
      )}
      <Code label="Arguments, as JSON">{parts.map(({ element }) => element)}</Code>
    </>
  )
}

/** Line ends are of our own making here: inside JSON they are written as \n. */
function renderChunk(chunk: string, at: number): RenderedChunk {
  const text = chunk.replace(/\n$/, '')
  const hidden = text
    .split('\n')
    .flatMap(markedPieces)
    .filter(({ kind }) => kind !== 'text').length
  return { element: <Fragment key={at}>{toLines(text)}</Fragment>, hidden }
}
