/** Runs the cases against a separate process and returns the longest turn of its event loop for each. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Case } from './cases.ts'
import type { Started, Turn } from './child.fixture.ts'

export interface MeasuredTurn extends Case, Turn {
  /** The tool's answer, shortened: a refusal would make the measurement worthless. */
  readonly said: string
  readonly isError: boolean
}

type Result = { readonly measured: readonly MeasuredTurn[]; readonly missing: readonly string[] }

/**
 * Measures every case, and those of a server with a long turn again, because a garbage collection or a first compilation
 * may fall into a turn. A turn that is long every time counts.
 */
export async function longestTurns(
  cases: readonly Case[],
  rows: number,
  say: (line: string) => void = () => {},
): Promise<Result> {
  let { measured, missing } = await measure(cases, rows, say)
  for (let more = 0; more < maxRepeats; more++) {
    const slow = new Set(measured.filter(({ cpuMs }) => cpuMs > suspiciousMs).map(({ server }) => server))
    if (slow.size === 0) break
    say(`again: ${[...slow].join(', ')}`)
    const some = cases.filter(({ server }) => slow.has(server))
    const again = (await measure(some, rows, say)).measured
    measured = measured.map((each) => {
      const other = again.find((one) => isSame(each, one))
      return other && other.cpuMs < each.cpuMs ? other : each
    })
  }
  return { measured, missing }
}
const maxRepeats = 4
const suspiciousMs = 50
const isSame = (a: Case, b: Case): boolean => a.server === b.server && a.tool === b.tool && a.with === b.with

/** `rows` is the amount of data in the servers. */
async function measure(cases: readonly Case[], rows: number, say: (line: string) => void = () => {}): Promise<Result> {
  const child = fork(new URL('./child.fixture.ts', import.meta.url), [String(rows)], {
    execArgv: ['--expose-gc'],
    serialization: 'advanced',
  })
  try {
    const { urls, tools } = await next<Started>()
    const named = new Set(cases.map(({ server, tool }) => `${server} ${tool}`))
    const missing = Object.entries(tools)
      .flatMap(([server, names]) => names.map((name) => `${server} ${name}`))
      .filter((name) => !named.has(name))
    const measured: MeasuredTurn[] = []
    for (const each of cases) {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: each.tool, arguments: each.arguments() },
      })
      child.send('begin')
      await next()
      let answer = { said: '', isError: true }
      for (let time = 0; time < (each.times ?? 1); time++) answer = await post(urls[each.server] ?? '', body)
      child.send('end')
      const turn = await next<Turn>()
      measured.push({ ...each, ...answer, ...turn })
      say(lineOf({ ...each, ...answer, ...turn }))
    }
    return { measured, missing }
  } finally {
    child.kill()
  }

  async function next<T>(): Promise<T> {
    const given = new AbortController()
    try {
      const [message] = await Promise.race([
        once(child, 'message', given),
        once(child, 'exit', given).then(([code]) => Promise.reject(new Error(`The measured process ended: ${code}`))),
      ])
      return message as T
    } finally {
      given.abort()
    }
  }
}

export const lineOf = ({ server, tool, with: special, cpuMs, wallMs, said }: MeasuredTurn): string =>
  `${cpuMs.toFixed(1).padStart(8)} ms CPU ${wallMs.toFixed(1).padStart(8)} ms  ${server} ${tool}${special ? `, ${special}` : ''}: ${said}`

async function post(url: string, body: string): Promise<{ readonly said: string; readonly isError: boolean }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body,
  })
  const text = await response.text()
  const json = text.startsWith('{')
    ? text
    : (/^data: (.*)$/gm.exec(text.trim().split('\n\n').at(-1) ?? '')?.[1] ?? '{}')
  const { result, error } = JSON.parse(json) as {
    result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] }
    error?: { readonly message: string }
  }
  const said = error?.message ?? result?.content?.[0]?.text ?? ''
  return { said: said.replace(/\s+/g, ' ').slice(0, 60), isError: error !== undefined || result?.isError === true }
}
