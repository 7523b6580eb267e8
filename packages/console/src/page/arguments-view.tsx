/**
 * Shows arguments to an approver: complete, with hidden characters marked. A long string is a block with its line breaks
 * as lines. The approver must have had the end of each listing on screen.
 */

import type { JSX } from 'preact'
import { Fragment } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Chunk, Section } from './arguments.ts'
import { chunksOf, exactSection, sectionsOf } from './arguments.ts'
import { Code, countHidden, HiddenWarning, ListedLines } from './code.tsx'
import { number, Visible } from './ui.tsx'

interface RenderedChunk {
  readonly section: number
  readonly element: JSX.Element
  readonly hidden: number
  readonly isLast: boolean
}

export interface ArgumentsProps {
  readonly label: string
  readonly text: string
  /** Called with the listings whose end has not been on screen yet. */
  readonly onUnseen?: (names: readonly string[]) => void
}

export function Arguments({ label, text, onUnseen }: ArgumentsProps): JSX.Element {
  const [exact, setExact] = useState(false)
  const blocks = useMemo(() => sectionsOf(text), [text])
  const sections = useMemo(() => (exact ? exactSection(text) : blocks), [blocks, exact, text])
  const rendered = useRendered(sections)
  const [seen, setSeen] = useState<ReadonlySet<number>>(nothingSeen)
  // All of it is seen once either form has been seen to its end.
  const [wasSeen, setWasSeen] = useState(false)
  const unseen = wasSeen ? [] : sections.filter((_, at) => !seen.has(at)).map(({ name }) => name)
  const key = unseen.join('\n')
  useEffect(() => {
    if (unseen.length === 0) setWasSeen(true)
    onUnseen?.(unseen.map((name) => (name === '' ? label : name)))
  }, [key, unseen.length === 0])
  const onEnd = useCallback(
    (at: number) => setSeen((before) => (before.has(at) ? before : new Set([...before, at]))),
    [],
  )
  const hidden = rendered.reduce((sum, chunk) => sum + chunk.hidden, 0)
  const toggle = (): void => {
    setSeen(nothingSeen)
    setExact(!exact)
  }
  return (
    <section class="block">
      <div class="block-head">
        <h3>{label}</h3>
        {blocks.length > 1 && (
          <button type="button" class="button small" aria-pressed={exact} onClick={toggle}>
            Exact JSON
          </button>
        )}
      </div>
      <HiddenWarning count={hidden} />
      {sections.map((section, at) => (
        <Listing
          key={`${exact} ${section.name}`}
          section={section}
          label={section.name === '' ? `${label}, as JSON` : section.name}
          chunks={rendered.filter((chunk) => chunk.section === at)}
          onEnd={() => onEnd(at)}
        />
      ))}
    </section>
  )
}

const nothingSeen: ReadonlySet<number> = new Set()

/** Renders one chunk at a time, so that long arguments do not block the page. */
function useRendered(sections: readonly Section[]): readonly RenderedChunk[] {
  const chunks = useMemo(() => chunksOf(sections), [sections])
  const [state, setState] = useState<{ readonly of: readonly Chunk[]; readonly done: readonly RenderedChunk[] }>({
    of: chunks,
    done: [],
  })
  const done = state.of === chunks ? state.done : nothingRendered
  useEffect(() => {
    const chunk = chunks[done.length]
    if (!chunk) return undefined
    // Elements are kept, because the renderer skips an unchanged element when the next one is added.
    const timer = setTimeout(() => setState({ of: chunks, done: [...done, renderChunk(chunk, done.length)] }), 0)
    return () => clearTimeout(timer)
  }, [done, chunks])
  return done
}

const nothingRendered: readonly RenderedChunk[] = []

const renderChunk = ({ section, lines, isLast }: Chunk, at: number): RenderedChunk => ({
  ...{ section, isLast },
  element: (
    <Fragment key={at}>
      <ListedLines lines={lines} />
    </Fragment>
  ),
  hidden: lines.reduce((sum, { text }) => sum + countHidden(text), 0),
})

/** The height that the buttons cover at the bottom of the screen, where nothing can be read. */
function coveredHeight(): number {
  const top = document.querySelector('.decide')?.getBoundingClientRect().top
  return top === undefined ? 0 : Math.max(0, Math.round(innerHeight - top))
}

/** Counts a listing as long if it may not fit on a screen, so that it offers a way to its end. */
const longLines = 25

function Listing(props: {
  readonly section: Section
  readonly label: string
  readonly chunks: readonly RenderedChunk[]
  readonly onEnd: () => void
}): JSX.Element {
  const { section, label, chunks, onEnd } = props
  const end = useRef<HTMLSpanElement>(null)
  const isWhole = chunks.at(-1)?.isLast === true
  useEffect(() => {
    const mark = end.current
    if (!mark || !isWhole) return undefined
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && onEnd(), {
      rootMargin: `0px 0px -${coveredHeight()}px 0px`,
    })
    observer.observe(mark)
    return () => observer.disconnect()
  }, [isWhole])
  // Lines that are still added would push the end away again.
  const [goesToEnd, setGoesToEnd] = useState(false)
  useEffect(() => {
    if (!goesToEnd || !isWhole) return
    end.current?.scrollIntoView({ block: 'center' })
    setGoesToEnd(false)
  }, [goesToEnd, isWhole])
  const { name, characters, lines } = section
  const isLong = lines.length > longLines || characters > 4_000
  return (
    <>
      {(name !== '' || isLong) && (
        <div class="block-head">
          {name !== '' && (
            <h4>
              <Visible text={name} />
            </h4>
          )}
          <span class="dim">
            {number(characters)} characters, {number(lines.length)} {lines.length === 1 ? 'line' : 'lines'}
          </span>
          {isLong && (
            <button type="button" class="button small quiet" onClick={() => setGoesToEnd(true)}>
              Go to the end<span class="unseen"> of {label}</span>
            </button>
          )}
        </div>
      )}
      <Code label={label}>
        {chunks.map(({ element }) => element)}
        <span class="end-mark" ref={end} />
      </Code>
    </>
  )
}
