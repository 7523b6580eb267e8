/** With a real SBCL and Swank. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../src/app.ts'
import type { Answer } from './server.fixture.ts'
import { folder, openLisp, requestIn, textOf, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)
const slowTest = { timeout: 120_000 }

describe('evaluating', slowTest, () => {
  test('returns the output and every value, and keeps definitions', async () => {
    const { call } = await openLisp()
    expect(await call('repl_eval', { code: '(defvar *x* 20) (princ "né") (values (+ *x* 1) "a\\"b")' })).toMatchObject({
      isError: false,
      structuredContent: { output: 'né', values: ['21', '"a\\"b"'] },
    })
    expect(textOf(await call('repl_eval', { code: '*x*' }))).toBe('=> 20')
    expect(textOf(await call('repl_eval', { code: '(values)' }))).toBe('No values.')
  })

  test('reads names in the named package', async () => {
    const { call } = await openLisp()
    await call('repl_eval', { code: '(defpackage :mine (:use :cl)) (defparameter mine::y 7)' })
    expect(textOf(await call('repl_eval', { code: 'y', package: 'MINE' }))).toBe('=> 7')
  })

  test("compiles, and shows the compiler's warnings", async () => {
    const { call } = await openLisp()
    const answer = await call('repl_compile', { code: '(defun twice (n) (* 2 n m))' })
    expect(textOf(answer)).toMatch(/undefined variable/i)
    await call('repl_compile', { code: '(defun twice (n) (* 2 n))' })
    expect(textOf(await call('repl_eval', { code: '(twice 21)' }))).toBe('=> 42')
  })
})

describe('reading needs no approval', slowTest, () => {
  test("describe, completions, a variable's value, threads, status", async () => {
    const { call, client } = await openLisp()
    await call('repl_eval', { code: '(defparameter *table* (list 1 2 3))' })
    const read = async (name: string, args: object = {}): Promise<string> =>
      textOf((await client.call(name, { ...args })) as never)
    expect(await read('repl_describe', { symbol: 'mapcar' })).toContain('MAPCAR')
    expect(await read('repl_completions', { prefix: 'multiple-value-' })).toContain('multiple-value-bind')
    expect(await read('repl_inspect', { variable: '*table*' })).toContain('1')
    expect(await read('repl_threads')).toContain('reader-thread')
    expect(await read('repl_status')).toContain('Connected to SBCL started by this server')
  })

  test('a reading tool can never be made to run code', async () => {
    const { call, client } = await openLisp()
    await call('repl_eval', { code: '(defparameter *ran* nil)' })
    const trick = '#.(setf cl-user::*ran* t)'
    for (const [name, args] of [
      ['repl_describe', { symbol: trick }],
      ['repl_completions', { prefix: trick }],
      ['repl_inspect', { variable: trick }],
      ['repl_describe', { symbol: 'car', package: trick }],
    ] as const)
      await client.call(name, { ...args })
    expect(textOf(await call('repl_eval', { code: '*ran*' }))).toBe('=> NIL')
  })
})

test('every tool that runs or changes code waits for an approval', slowTest, async () => {
  const { call, client } = await openLisp()
  // Otherwise there is no restart that a ticket could name.
  await call('repl_eval', { code: '(error "stopped")' })
  const { tools } = (await client.request('tools/list')) as unknown as {
    tools: readonly { name: string; annotations?: { readOnlyHint?: boolean } }[]
  }
  const args: { readonly [name: string]: object } = {
    repl_connect: { port: 4005 },
    repl_eval: { code: '1' },
    repl_compile: { code: '1' },
    repl_macroexpand: { form: '(when t 1)' },
    repl_inspect: { expression: '1' },
    debugger_invoke_restart: { restart: 0 },
    trace_function: { function: 'car' },
    profile_start: { package: 'CL-USER' },
    load_system: { system: 'asdf' },
    breakpoint_set: { function: 'ours' },
    breakpoint_remove: { function: 'ours' },
  }
  for (const { name, annotations } of tools) {
    // Aborting only ends work that was approved before.
    if (annotations?.readOnlyHint || name === 'repl_abort') continue
    const answer = (await client.call(name, { ...args[name] })) as never
    expect(requestIn(answer), name).toBeTypeOf('string')
  }
})

describe('an error opens the debugger and closes nothing', slowTest, () => {
  test('the stack, the variables, the restarts; a restart continues and returns the value', async () => {
    const { call, client } = await openLisp()
    await call('repl_eval', {
      code: '(defun risky (n) (declare (optimize debug)) (restart-case (error "boom ~a" n) (use-ten () 10)))',
    })
    const failed = await call('repl_eval', { code: '(1+ (risky 7))' })
    expect(failed).toMatchObject({ isError: true })
    expect(textOf(failed)).toContain('boom 7')
    expect(textOf(failed)).toMatch(/0: \[USE-TEN\]/)
    expect(textOf((await client.call('debugger_frames', { count: 30 })) as never)).toContain('RISKY')
    const frames = (await client.call('debugger_frames', { count: 30 })) as never as {
      structuredContent: { frames: { index: number; description: string }[] }
    }
    const frame = frames.structuredContent.frames.find(({ description }) => description.includes('(RISKY'))?.index
    expect(textOf((await client.call('debugger_frames', { frame })) as never)).toContain('N = 7')
    expect(textOf(await call('debugger_invoke_restart', { restart: 0 }))).toMatch(/^Continued with USE-TEN.*\n=> 11$/)
    expect(textOf((await client.call('debugger_restarts')) as never)).toContain('No thread is in the debugger')
  })

  test('several threads can be in the debugger, addressed by number, and be aborted', async () => {
    const { call, client } = await openLisp()
    await call('repl_eval', { code: '(error "first")' })
    await call('repl_eval', { code: '(error "second")' })
    const which = textOf((await client.call('debugger_restarts')) as never)
    expect(which).toContain('Name the thread')
    const thread = Number(/(\d+) \(second\)/.exec(which)?.[1])
    expect(textOf(await call('repl_abort', { thread }))).toBe('Aborted: second')
    expect(textOf((await client.call('debugger_restarts')) as never)).toContain('first')
  })
})

test('an approval of one restart does not invoke another that has its number now', slowTest, async () => {
  const { call, client } = await openLisp()
  await call('repl_eval', { code: '(restart-case (error "first") (give-up () :gave-up))' })
  const asked = (await client.call('debugger_invoke_restart', { restart: 0 })) as never
  const [block] = (asked as { content: readonly { text: string }[] }).content
  expect(JSON.parse(block?.text ?? '')).toMatchObject({
    effect: { Restart: expect.stringContaining('[GIVE-UP]'), Condition: expect.stringContaining('first') },
  })
  await client.request('approval/respond', { request_id: requestIn(asked) ?? '', approved: true })
  await call('repl_abort')
  await call('repl_eval', { code: '(restart-case (error "second") (delete-everything () :deleted))' })
  const again = (await client.call('debugger_invoke_restart', { restart: 0 })) as never
  expect(again).toMatchObject({ isError: true })
  expect(textOf(again)).toMatch(/Restart: "\[GIVE-UP\].*" → "\[DELETE-EVERYTHING\]/)
  expect(textOf((await client.call('debugger_restarts')) as never)).toContain('second')
})

test('the ticket of a trace says whether it starts or stops', slowTest, async () => {
  const { call, client } = await openLisp()
  await call('repl_eval', { code: '(defun watched () 1)' })
  const effect = async (): Promise<unknown> => {
    const asked = (await client.call('trace_function', { function: 'watched' })) as never as Answer
    return JSON.parse(asked.content[0]?.text ?? '').effect
  }
  expect(await effect()).toMatchObject({ Function: 'watched', Tracing: 'starts' })
  await call('trace_function', { function: 'watched' })
  expect(await effect()).toMatchObject({ Function: 'watched', Tracing: 'stops' })
})

test('a cancelled call stops the Lisp thread itself', slowTest, async () => {
  const { call, sessions } = await openLisp()
  await call('repl_eval', { code: '(defvar *n* 0)' })
  const session = sessions.sessionOf('default')
  const stop = new AbortController()
  const { evaluationForm } = await import('../src/session.ts')
  const looping = session.outcome(evaluationForm('(loop (incf cl-user::*n*) (sleep 0.001))'), stop.signal)
  // The form runs once the count moves.
  let count = 0
  while (count === 0) count = Number(textOf(await call('repl_inspect', { variable: '*n*' })).match(/(\d+)$/)?.[1])
  stop.abort()
  expect(await looping).toMatchObject({ kind: 'aborted' })
  const after = textOf(await call('repl_eval', { code: '*n*' }))
  expect(textOf(await call('repl_eval', { code: '(progn (sleep 0.05) *n*)' }))).toBe(after)
})

test('a lost image recovers: the next call opens another', slowTest, async () => {
  const { call, sessions } = await openLisp()
  await call('repl_eval', { code: '(defvar *here* 1)' })
  const lost = await call('repl_eval', { code: '(sb-ext:exit :abort t)' })
  expect(lost).toMatchObject({ isError: true })
  expect(textOf(lost)).toContain('was lost')
  expect(textOf(await call('repl_eval', { code: "(boundp '*here*)" }))).toBe('=> NIL')
  expect(sessions.sessionOf('default').status()).toMatchObject({ connected: true, opened: 2 })
})

test('functions are traced and profiled, macros are expanded and files are loaded', slowTest, async () => {
  const { call } = await openLisp()
  await call('repl_eval', { code: '(defpackage :work (:use :cl)) (defun work::add (a b) (+ a b))' })
  expect(textOf(await call('trace_function', { function: 'work::add' }))).toContain('is now traced')
  expect(textOf(await call('repl_eval', { code: '(work::add 1 2)' }))).toContain('ADD 1 2')
  expect(textOf(await call('trace_function', { function: 'work::add' }))).toContain('untraced')
  expect(textOf(await call('profile_start', { package: 'WORK' }))).toContain('Profiling')
  await call('repl_eval', { code: '(dotimes (i 1000) (work::add i i))' })
  expect(textOf(await call('profile_report'))).toContain('WORK::ADD')
  expect(textOf(await call('profile_stop'))).toContain('Profiling has stopped')
  expect(textOf(await call('repl_macroexpand', { form: '(when a b)' }))).toMatch(/IF A/i)
  expect(textOf(await call('load_system', { system: 'uiop' }))).toContain('Loaded uiop')
})

test('a running image is joined', slowTest, async () => {
  const { call } = await openLisp()
  // A Swank that the user started, as Emacs users do, has no secret of ours.
  await call('repl_eval', { code: "(setf (symbol-function 'swank::slime-secret) (lambda () nil))" })
  const started = await call('repl_eval', {
    code: '(swank:create-server :port 0 :dont-close t :interface "127.0.0.1")',
  })
  const port = textOf(started).match(/=> (\d+)/)?.[1]
  const other = await openLisp({ ...process.env, SWANK_PORT: port })
  await other.call('repl_eval', { code: '(defparameter *from-the-other* 5)' })
  expect(textOf(await call('repl_eval', { code: '*from-the-other*' }))).toBe('=> 5')
})

describe('a port where no Swank listens', slowTest, () => {
  /** Returns a port of this machine on which nothing listens any more. */
  const closedPort = async (): Promise<number> => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    return port
  }

  test('changes nothing: the image and its definitions stay', async () => {
    const { call, client } = await openLisp()
    await call('repl_eval', { code: '(defvar *kept* 1)' })
    const wrong = await call('repl_connect', { port: await closedPort() })
    expect(textOf(wrong)).toContain('No Swank server answers')
    expect(await client.call('repl_status')).toMatchObject({ structuredContent: { opened: 1 } })
    expect(textOf(await call('repl_eval', { code: '*kept*' }))).toBe('=> 1')
  })

  test('does not keep a session without an image from opening one', async () => {
    const { call } = await openLisp()
    expect(textOf(await call('repl_connect', { port: await closedPort() }))).toContain('No Swank server answers')
    expect(textOf(await call('repl_eval', { code: '(+ 1 1)' }))).toBe('=> 2')
  })

  test('a joined image that ended is abandoned after one failure', async () => {
    const { call: other, sessions } = await openLisp()
    await other('repl_eval', { code: "(setf (symbol-function 'swank::slime-secret) (lambda () nil))" })
    const started = await other('repl_eval', {
      code: '(swank:create-server :port 0 :dont-close t :interface "127.0.0.1")',
    })
    const { call } = await openLisp()
    await call('repl_connect', { port: Number(textOf(started).match(/=> (\d+)/)?.[1]) })
    expect(textOf(await call('repl_eval', { code: '1' }))).toBe('=> 1')
    await sessions.close()
    // The connection may end a moment after the image, so calls fail until the session starts its own image.
    const failures: string[] = []
    for (
      let answer = await call('repl_eval', { code: '2' });
      answer.isError;
      answer = await call('repl_eval', { code: '2' })
    )
      failures.push(textOf(answer))
    expect(failures.length).toBeLessThan(3)
    expect(failures.at(-1)).toContain('No Swank server answers')
  })
})

test('disconnecting ends an image that is still starting', slowTest, async () => {
  const sessions = createApp({ folder, env: process.env })
  onTestFinished(() => sessions.close())
  const session = sessions.sessionOf('a')
  const opening = session.connect().catch((thrown: unknown) => thrown)
  await session.disconnect()
  expect(await opening).toBeInstanceOf(Error)
  expect(session.hasImage).toBe(false)
})

test('code that no approval could show is refused before a person is asked', slowTest, async () => {
  const { client } = await openLisp()
  const refused = (await client.call('repl_eval', { code: `"${'x'.repeat(70_000)}"` })) as never
  expect(textOf(refused)).toContain('code')
  const escaped = (await client.call('repl_eval', { code: '\n'.repeat(40_000) })) as never
  expect(textOf(escaped)).toContain('64000 characters')
  const longest = (await client.call('repl_eval', { code: 'x'.repeat(63_998), package: '"'.repeat(200) })) as never
  expect(requestIn(longest)).toBeTypeOf('string')
})

test("images that start for the first time together do not damage each other's Swank", slowTest, async () => {
  const fresh = mkdtempSync(join(tmpdir(), 'sluice-lisp-'))
  onTestFinished(() => rmSync(fresh, { recursive: true, force: true, maxRetries: 5 }))
  const sessions = createApp({ folder: fresh, env: process.env })
  onTestFinished(() => sessions.close())
  const opened = await Promise.all(['a', 'b'].map((tenant) => sessions.sessionOf(tenant).connect()))
  expect(opened.map(({ connected }) => connected)).toEqual([true, true])
  expect(readdirSync(fresh)).toEqual([expect.stringMatching(/^swank-/)])
})

test('at the limit of images, one that is disconnected makes room', slowTest, async () => {
  const sessions = createApp({ folder, env: process.env, maxImages: 1 })
  onTestFinished(() => sessions.close())
  const [a, b] = [sessions.sessionOf('a'), sessions.sessionOf('b')]
  // Asking for the status opens nothing.
  expect(b.status()).toMatchObject({ connected: false, opened: 0 })
  await Promise.all([a.connect(), a.connect()])
  await expect(b.connect()).rejects.toThrow('Too many Lisp images')
  await a.connect()
  await a.disconnect()
  expect(await b.connect()).toMatchObject({ connected: true })
})

test('two tenants have separate images', slowTest, async () => {
  const { sessions } = await openLisp()
  const { evaluationForm, toEvaluationResult } = await import('../src/session.ts')
  const signal = new AbortController().signal
  await sessions.sessionOf('a').evaluate(evaluationForm('(defvar cl-user::*mine* 1)'), signal)
  expect(
    toEvaluationResult(await sessions.sessionOf('b').evaluate(evaluationForm("(boundp 'cl-user::*mine*)"), signal))
      .values,
  ).toEqual(['NIL'])
})
