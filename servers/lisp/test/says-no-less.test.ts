/** Every tool, with a real SBCL: the data says what the text says. A tool without a row fails. */

import { beforeAll, expect, test } from 'vitest'
import { saidOnlyInText } from '../../../test/kit/servers/says-no-less.ts'
import { openLisp, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)

/** The data has these as fields: values, connected, origin, success, restarts. */
const labels =
  'Thread is in the debugger level Restarts Connected to SBCL started by this server at Compiled No values None known ' +
  'functions that call it are breakpoint set No variables'
const rows: readonly (readonly [tool: string, args: object])[] = [
  ['repl_status', {}],
  ['repl_connect', {}],
  ['repl_eval', { code: '(princ "said") (values 1 "two")' }],
  ['repl_compile', { code: '(declaim (optimize (debug 3))) (defun callee (n) (* n 2)) (defun caller () (callee 3))' }],
  ['repl_read', { expression: '(list 1 (+ 1 1))' }],
  ['repl_xref', { symbol: 'callee' }],
  ['repl_xref', { symbol: 'caller' }],
  ['repl_describe', { symbol: 'callee' }],
  ['repl_completions', { prefix: 'calle' }],
  ['repl_macroexpand', { form: '(when a b)' }],
  ['repl_inspect', { variable: '*features*' }],
  ['repl_threads', {}],
  ['breakpoint_list', {}],
  ['breakpoint_set', { function: 'callee' }],
  ['breakpoint_list', {}],
  ['repl_eval', { code: '(caller)' }],
  ['debugger_restarts', {}],
  ['debugger_frames', {}],
  ['debugger_frames', { frame: 3 }],
  ['debugger_step', { how: 'into' }],
  ['repl_status', {}],
  ['debugger_invoke_restart', { restart: 0 }],
  ['repl_abort', {}],
  ['breakpoint_remove', { function: 'callee' }],
  ['trace_function', { function: 'callee' }],
  ['profile_start', { package: 'CL-USER' }],
  ['profile_report', {}],
  ['profile_stop', {}],
  ['load_system', { system: 'uiop' }],
  ['repl_disconnect', {}],
]

test('the data of every tool says what its text says', { timeout: 120_000 }, async () => {
  const { call, client } = await openLisp()
  const { tools } = (await client.request('tools/list')) as unknown as { tools: readonly { name: string }[] }
  expect(new Set(rows.map(([tool]) => tool))).toEqual(new Set(tools.map(({ name }) => name)))
  for (const [tool, args] of rows)
    expect(saidOnlyInText((await call(tool, args)) as never, labels), `${tool} ${JSON.stringify(args)}`).toEqual([])
})
