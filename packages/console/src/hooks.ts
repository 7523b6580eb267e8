/** What several pages need: time that ticks, data that is asked for again, a choice kept in the address. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from './client.ts'

let offset = 0
/** The server's clock decides when a ticket expires; this one only shows it. */
export const setServerTime = (now: number): void => {
  offset = now - Date.now()
}
export const serverNow = (): number => Date.now() + offset

const tickListeners = new Set<(now: number) => void>()
setInterval(() => {
  for (const tick of tickListeners) tick(serverNow())
}, 1000)

/** Renders again every second: for the smallest thing that shows time, not for a page of it. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    tickListeners.add(setNow)
    return () => {
      tickListeners.delete(setNow)
    }
  }, [])
  return now
}

export interface QueryResult<T> {
  readonly data: T | undefined
  readonly problem: string | undefined
  readonly reload: () => void
}

/** Asks at once, when `key` changes, and when told. What came later than a newer answer is dropped. */
export function useQuery<T>(load: () => Promise<T>, key: string): QueryResult<T> {
  const [data, setData] = useState<T>()
  const [problem, setProblem] = useState<string>()
  const turn = useRef(0)
  const latest = useRef(load)
  latest.current = load
  const reload = useCallback(() => {
    const mine = ++turn.current
    latest.current().then(
      (found) => {
        if (mine !== turn.current) return
        setData(found)
        setProblem(undefined)
      },
      (thrown) => {
        if (mine === turn.current) setProblem(problemOf(thrown))
      },
    )
  }, [])
  useEffect(reload, [reload, key])
  return { data, problem, reload }
}

export interface Pages<Page> {
  readonly pages: readonly Page[] | undefined
  readonly problem: string | undefined
  /** Absent where there are no more. */
  readonly more: (() => void) | undefined
  /** From the first on. */
  readonly reload: () => void
}

/** A list that comes a page at a time. */
export function usePages<Page extends { readonly next?: string | undefined }>(
  load: (after: { readonly after?: string }) => Promise<Page>,
): Pages<Page> {
  const first = useQuery(() => load({}), '')
  const [rest, setRest] = useState<readonly Page[]>([])
  const [problem, setProblem] = useState<string>()
  const after = (rest.at(-1) ?? first.data)?.next
  const show = (page: Page): void => setRest([...rest, page])
  return {
    pages: first.data && [first.data, ...rest],
    problem: first.problem ?? problem,
    more:
      after === undefined
        ? undefined
        : () => {
            load({ after }).then(show, (thrown) => setProblem(problemOf(thrown)))
          },
    reload() {
      setRest([])
      first.reload()
    },
  }
}

/** `#/approvals/123` is `['approvals', '123']`. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const hear = (): void => setHash(location.hash)
    addEventListener('hashchange', hear)
    return () => removeEventListener('hashchange', hear)
  }, [])
  return routeParts(hash)
}

export const routeParts = (hash: string): readonly string[] => hash.replace(/^#\/?/, '').split('/').map(decodePart)

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
