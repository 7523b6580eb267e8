/** Hooks that several pages share: a ticking clock, API queries, paging, and the route in the address. */

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { problemOf } from './client.ts'

let offset = 0
/** Aligns this clock with the server's, which decides when a ticket expires. */
export const setServerTime = (now: number): void => {
  offset = now - Date.now()
}
export const serverNow = (): number => Date.now() + offset

const tickListeners = new Set<(now: number) => void>()
setInterval(() => {
  for (const tick of tickListeners) tick(serverNow())
}, 1000)

/** Renders again every second. Use it only in the smallest component that shows time. */
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

/** Loads at once, when `key` changes, and on `reload`. Drops an answer that arrives after a newer one. */
export function useQuery<T>(load: () => Promise<T>, key: string): QueryResult<T> {
  const [data, setData] = useState<T>()
  const [problem, setProblem] = useState<string>()
  const counter = useRef(0)
  const latest = useRef(load)
  latest.current = load
  const reload = useCallback(() => {
    const request = ++counter.current
    latest.current().then(
      (found) => {
        if (request !== counter.current) return
        setData(found)
        setProblem(undefined)
      },
      (thrown) => {
        if (request === counter.current) setProblem(problemOf(thrown))
      },
    )
  }, [])
  useEffect(reload, [reload, key])
  return { data, problem, reload }
}

export interface Pages<Page> {
  readonly pages: readonly Page[] | undefined
  readonly problem: string | undefined
  /** Loads the next page; `undefined` on the last one. */
  readonly more: (() => void) | undefined
  /** Loads again from the first page on. */
  readonly reload: () => void
}

/** Loads a list page by page. */
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

/** Returns the parts of the route. `#/approvals/123` is `['approvals', '123']`. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const update = (): void => setHash(location.hash)
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return routeParts(hash)
}

export const routeParts = (hash: string): readonly string[] =>
  hash.replace(/^#\/?/, '').replace(/\?.*$/s, '').split('/').map(decodePart)

export interface AuditQuery {
  readonly tenant: string
  readonly text: string
}

/** Returns the address of a search in the audit. */
export const auditLink = (query: AuditQuery): string => `#/audit?${new URLSearchParams({ ...query })}`

/** Reads the search in the address of the Audit page. */
export function auditQuery(hash: string): AuditQuery {
  const query = new URLSearchParams(/\?(.*)$/s.exec(hash)?.[1] ?? '')
  return { tenant: query.get('tenant') ?? '', text: query.get('text') ?? '' }
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
