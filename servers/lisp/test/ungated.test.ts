/**
 * The tools without approval, with a real SBCL, against every way in which text makes the Lisp reader run or intern.
 */

import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { evaluationForm, toEvaluationResult } from '../src/session.ts'
import { openLisp, requestIn, textOf, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)
const slowTest = { timeout: 240_000 }

interface Listed {
  readonly name: string
  readonly inputSchema: { readonly properties?: { readonly [name: string]: { readonly type?: string } } }
}

/** Runs when it is read: by package, and by names without a package marker. */
const effects = [
  '(setf cl-user::*ran* t)',
  '(cl:setf cl-user::*ran* t)',
  '(common-lisp-user::run-me)',
  '(run-me)',
  'cl-user::*ran*',
]
const effect = fc.constantFrom(...effects)
/** A name that no image has: reading it anywhere interns it. */
const fresh = fc.nat({ max: 1e9 }).map((number) => `FRESH-${number}`)

const readerText = fc.oneof(
  effect.map((code) => `#.${code}`),
  effect.map((code) => `#,${code}`),
  effect.map((code) => `#+#.${code} a`),
  effect.map((code) => `#-#.(progn ${code} nil) a`),
  effect.map((code) => `#+(or #.${code} sbcl) cl-user`),
  effect.map((code) => `#1=#.${code}`),
  effect.map((code) => `#1=(#.${code} . #1#)`),
  effect.map((code) => `#(#.${code})`),
  effect.map((code) => `#S(hash-table :size #.${code})`),
  effect.map((code) => `#P#.(progn ${code} "x")`),
  effect.map((code) => `#A(#.${code})`),
  effect.map((code) => `#C(1 #.${code})`),
  effect.map((code) => `#n#.${code}`),
  effect.map((code) => `#'#.${code}`),
  effect.map((code) => `\`,${code}`),
  effect.map((code) => `\`(,@${code})`),
  effect.map((code) => `'#.${code}`),
  effect.map((code) => `#|x|##.${code}`),
  effect.map((code) => `; x\n#.${code}`),
  effect.map((code) => `"#.${code}" #.${code}`),
  effect.map((code) => `") #.${code} ("`),
  effect.map((code) => `\\") #.${code} (\\"`),
  effect.map((code) => `car #.${code}`),
  effect.map((code) => `#.${code}:x`),
  effect.map((code) => `#.${code}::x`),
  effect.map((code) => `|#.${code}|:x`),
  effect.map((code) => `cl-user#.${code}`),
  effect.map((code) => `!#.${code}`),
  fresh,
  fresh.map((name) => `:${name}`),
  fresh.map((name) => `#:${name}`),
  fresh.map((name) => `|${name} x|`),
  fresh.map((name) => `cl-user::${name}`),
  fresh.map((name) => `keyword:${name}`),
  fresh.map((name) => `${name}::${name}`),
  fresh.map((name) => `${name}:car`),
  fresh.map((name) => `(${name} . ${name})`),
  fresh.map((name) => `cl-user:::${name}`),
  fresh.map((name) => `|cl-user|::|${name}`),
  fresh.map((name) => `\\${name}\\`),
  fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(...'#.,+-=|:\'"`()@;\\!~ \n\0aé𝒜') }),
)
const plain = fc.constantFrom('car', 'cl-user', 'CL-USER', 'keyword', 'swank', ':cl-user', 'map', '*package*')

async function hostileImage() {
  const lisp = await openLisp()
  // Bypasses the approvals, because the open tickets of a test's calls would leave no room for its own.
  const { signal } = new AbortController()
  const evaluate = async (code: string): Promise<readonly string[]> =>
    toEvaluationResult(await lisp.sessions.sessionOf('default').evaluate(evaluationForm(code), signal)).values
  await evaluate('(defparameter *ran* nil) (defun run-me () (setf cl-user::*ran* t))')
  // Swank reads package names in a separate package, where no name needs a marker.
  await evaluate(
    `(dolist (name '("SETF" "PROGN" "RUN-ME"))
       (import (or (find-symbol name "CL-USER") (intern name "CL-USER")) (find-package "SWANK-IO-PACKAGE")))`,
  )
  const census = (): Promise<readonly string[]> =>
    evaluate(`(values *ran* (length (list-all-packages))
      (let ((count 0)) (dolist (package (list-all-packages) count)
        (do-symbols (symbol package) (when (eq (symbol-package symbol) package) (incf count))))))`)
  await census()
  return { ...lisp, census }
}

describe('Lisp reads no text of a caller without an approval', slowTest, () => {
  test('whatever the text, no code runs and no name is interned', async () => {
    const { client, census } = await hostileImage()
    const { tools } = (await client.request('tools/list')) as unknown as { tools: readonly Listed[] }
    const textArguments = ({ inputSchema }: Listed): readonly string[] =>
      Object.entries(inputSchema.properties ?? {}).flatMap(([name, { type }]) => (type === 'string' ? [name] : []))
    // Every subset of a tool's text arguments; calls that need an approval run nothing either.
    const call = fc.constantFrom(...tools).chain((tool) => {
      const text = fc.oneof({ weight: 4, arbitrary: readerText }, { weight: 1, arbitrary: plain })
      const names = textArguments(tool).filter((name) => name !== 'approval_request_id')
      const args = fc.record(Object.fromEntries(names.map((name) => [name, text])), { requiredKeys: [] })
      return fc.record({ name: fc.constant(tool.name), args })
    })
    // Calls each tool once as intended, so that everything it needs exists before the count.
    const validArguments = { symbol: 'car', prefix: 'ca', variable: '*ran*', package: 'cl-user' }
    for (const { name } of tools) await client.call(name, validArguments)
    await client.call('breakpoint_list')
    await client.call('repl_read', { expression: "(list (length '(1)) (gethash 1 nil) '*ran* :x)" })
    const before = await census()
    expect(before[0]).toBe('NIL')
    let ran = 0
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 40 }), async (calls) => {
        for (const { name, args } of calls) {
          // A gated call is refused after twenty waiting tickets.
          const answer = await client.call(name, { ...args }).catch(() => undefined)
          if (answer && requestIn(answer as never) === undefined) ran++
        }
        expect(await census()).toEqual(before)
      }),
      { numRuns: 15 },
    )
    expect(ran).toBeGreaterThan(100)
  })

  test('each argument of each reading tool, with each text that once ran', async () => {
    const { client, census } = await hostileImage()
    const texts = fc.sample(readerText, { numRuns: 150, seed: 7 })
    for (const text of ['#.(setf cl-user::*ran* t)', '#.(run-me):x', ...texts])
      for (const [name, args] of [
        ['repl_describe', { symbol: text }],
        ['repl_describe', { symbol: 'car', package: text.slice(0, 200) }],
        ['repl_completions', { prefix: text }],
        ['repl_completions', { prefix: 'ca', package: text }],
        ['repl_read', { expression: text }],
        ['repl_read', { expression: `(list ${text} '${text})` }],
        ['repl_read', { expression: '(list 1)', package: text.slice(0, 200) }],
        ['repl_xref', { symbol: text }],
        ['repl_xref', { symbol: 'car', package: text.slice(0, 200) }],
        ['repl_inspect', { variable: text }],
        ['repl_inspect', { variable: '*package*', package: text }],
      ] as const)
        await client.call(name, { ...args })
    expect((await census())[0]).toBe('NIL')
  })

  test('a package is found by its name in either case, and an unknown one is reported', async () => {
    const { call, client } = await openLisp()
    await call('repl_eval', { code: '(defpackage :mine (:use :cl)) (defparameter mine::*y* 7)' })
    const inspect = async (args: object): Promise<string> =>
      textOf((await client.call('repl_inspect', { ...args })) as never)
    for (const name of ['MINE', 'mine', ':mine', '#:mine'])
      expect(await inspect({ variable: '*y*', package: name }), name).toContain('7')
    expect(await inspect({ variable: 'mine::*y*' })).toContain('7')
    expect(await inspect({ variable: '*y*', package: 'yours' })).toBe('Package not found: "yours".')
    expect(await inspect({ variable: '*z*' })).toContain('Symbol not found: "*z*"')
    expect(textOf((await client.call('repl_describe', { symbol: 'no-such' })) as never)).toContain('Symbol not found:')
    // A question about an unknown name leaves no thread in the debugger.
    expect(textOf((await client.call('debugger_restarts')) as never)).toContain('No thread is in the debugger')
    expect(textOf((await client.call('repl_completions', { prefix: 'mine::*y' })) as never)).toBe('mine::*y*')
    expect(textOf((await client.call('repl_completions', { prefix: '*y', package: 'mine' })) as never)).toBe('*y*')
    expect(textOf((await client.call('repl_completions', { prefix: ':key' })) as never)).toContain(':key')
  })
})
