/** Expressions that run without an approval, with a real SBCL: what they can read, and what they can never run. */

import { beforeAll, describe, expect, test } from 'vitest'
import { allowedFunctions, functions, parseExpression } from '../src/reading.ts'
import type { Answer } from './server.fixture.ts'
import { openLisp, requestIn, textOf, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)
const slowTest = { timeout: 240_000 }

async function openReader(env?: Readonly<Record<string, string | undefined>>) {
  const lisp = await openLisp(env)
  const read = async (expression: string, name?: string): Promise<string> => {
    const answer = (await lisp.client.call('repl_read', {
      expression,
      ...(name !== undefined && { package: name }),
    })) as unknown as Answer
    expect(requestIn(answer)).toBeUndefined()
    return textOf(answer)
  }
  return { ...lisp, read }
}

const program = `
  (defparameter *ran* nil)
  (defun run-me (&rest arguments) (declare (ignore arguments)) (setf *ran* t))
  (defparameter *alist* '((a . 1) (b . 2)))
  (defparameter *table* (make-hash-table))
  (setf (gethash :k *table*) "value")
  (defparameter *text* "né \\"q\\"")
  (defclass loud () ())
  (defmethod print-object ((it loud) stream) (run-me) (write-string "loud" stream))
  (defparameter *loud* (make-instance 'loud))
  (defparameter *fn* #'run-me)
  (define-symbol-macro sneaky (run-me))
  (deftype sneaky-type () (run-me) t)
  (sb-ext:define-hash-table-test loud-test loud-hash)
  (defparameter *odd* (make-hash-table :test 'loud-test))
  (setf (gethash 1 *odd*) 2)
  (defclass odd-sequence (sequence standard-object) ())
  (defmethod sb-sequence:length ((it odd-sequence)) (run-me) 3)
  (defparameter *odd-sequence* (make-instance 'odd-sequence))
  (defpackage :shady (:use :cl) (:shadow #:car))
  (defun shady::car (x) (run-me) x)
  (setf *ran* nil)`
const hashTest = `
  (defun loud-hash (x) (run-me) (sxhash x))
  (defun loud-test (a b) (run-me) (eql a b))`

describe('reading expressions', slowTest, () => {
  test('read variables, data and functions that change nothing', async () => {
    const { call, read } = await openReader()
    await call('repl_eval', { code: `(defun run-me (&rest x) x) ${hashTest} ${program}` })
    expect(await read('*alist*')).toBe('=> ((A . 1) (B . 2))')
    expect(await read("(cdr (assoc 'b *alist*))")).toBe('=> 2')
    expect(await read('(gethash :k *table*)')).toBe('=> "value"\n=> T')
    expect(await read('(floor 7 2)')).toBe('=> 3\n=> 1')
    expect(await read('*text*')).toBe('=> "né \\"q\\""')
    expect(await read('(if (boundp (quote *alist*)) (length *alist*) nil)')).toBe('=> 2')
    expect(await read('\'(zzz (1 "x") :test nil)')).toContain('Symbol not found: "zzz"')
    expect(await read('(list *package* *table* *loud* *fn*)', 'cl-user')).toMatch(
      /^=> \(#<PACKAGE .*> #<HASH-TABLE of 1 entries> #<object> #<FUNCTION>\)$/,
    )
    expect(await read('(values)')).toBe('No values.')
    expect(await read('(car 5)')).toContain('TYPE-ERROR')
    expect(await read('no-such-thing')).toContain('Symbol not found')
    expect(await read('car')).toContain('car is not a variable with a value')
  })

  test('never run a function of the image, and never open the debugger', async () => {
    const { call, client, read } = await openReader()
    await call('repl_eval', { code: `(defun run-me (&rest x) x) ${hashTest} ${program}` })
    await call('repl_eval', { code: '(setf *ran* nil)' })
    for (const expression of [
      ...['(run-me)', '(cl-user::run-me)', '(funcall *fn*)', "(funcall 'run-me)", "(apply 'run-me nil)", 'sneaky'],
      ...['(setf *ran* t)', '(setq *ran* t)', '(eval (quote (run-me)))', '((lambda () (run-me)))', "#'run-me"],
      ...[
        '(member 1 *alist* :test *fn*)',
        '(assoc 1 *alist* :key *fn*)',
        '(mapcar *fn* *alist*)',
        '(sort *alist* *fn*)',
      ],
      ...['*loud*', '(list *loud*)', '(car *loud*)', '(+ *loud* 1)', '(length *loud*)', '(princ *loud*)'],
      ...['(gethash 1 *odd*)', '(length *odd-sequence*)', '(elt *odd-sequence* 0)', "(typep 1 'sneaky-type)"],
      ...['#.(run-me)', '(list #.(run-me))', '`(,(run-me))', '"a" #.(run-me)', "'#.(run-me)", '(quote #.(run-me))'],
      ...[
        '(progn (defun car (x) x))',
        '(let ((x (run-me))) x)',
        '(symbol-value *fn*)',
        '(shady:car 1)',
        '(shady::car 1)',
      ],
      ...['(error "x")', '(break)', '(sb-ext:exit)', '(expt 10 1000000)', '(make-list 1000000)', '(ed)', '(read)'],
    ])
      await read(expression)
    expect(await read('(car 1)', 'shady')).toContain('another function')
    expect(textOf(await call('repl_eval', { code: '*ran*' }))).toBe('=> NIL')
    expect(textOf((await client.call('debugger_restarts')) as never)).toContain('No thread is in the debugger')
  })

  test('the operator chooses the functions, and can only choose fewer', async () => {
    const { read, client } = await openReader({ ...process.env, LISP_READ_FUNCTIONS: 'car, cdr' })
    expect(await read("(car '(1 2))")).toBe('=> 1')
    expect(await read('(+ 1 2)')).toContain('+ is not among the functions that only read')
    const { tools } = (await client.request('tools/list')) as unknown as { tools: readonly { name: string }[] }
    expect(tools.map(({ name }) => name)).toContain('repl_read')
    expect(allowedFunctions('none').size).toBe(0)
    expect(allowedFunctions(undefined).size).toBe(Object.keys(functions).length)
    expect(() => allowedFunctions('car, my-function')).toThrow('my-function cannot be called without an approval')
    expect(() => allowedFunctions('constructor')).toThrow('constructor')
  })

  test('a circular list and one too long are cut', async () => {
    const { call, read } = await openReader()
    await call('repl_eval', { code: '(defparameter *ring* (let ((l (list 1))) (setf (cdr l) l) l)) nil' })
    expect((await read('*ring*')).length).toBeLessThan(3000)
    await call('repl_eval', { code: '(defparameter *long* (loop for i below 100000 collect i)) nil' })
    expect(await read('*long*')).toMatch(/^=> \(0 1 2 .*…/)
  })
})

test.each([
  '',
  '(',
  ')',
  '(car',
  '"abc',
  'a b',
  '#x10',
  'a.b',
  '(a . b)',
  '|a|',
  'a\\b',
  ',a',
  '`a',
  ';x',
  'a;b',
  '(()',
  'a::b::c',
])('the reader of expressions refuses %j', (text) => {
  expect(() => parseExpression(text)).toThrow()
})

test('cross-references of a function and a variable are found', slowTest, async () => {
  const { call, client } = await openReader()
  await call('repl_compile', { code: '(defvar *seen* 0)' })
  await call('repl_compile', { code: '(defun inner () (incf *seen*)) (defun outer () (inner))' })
  const xref = async (symbol: string, kind: string): Promise<string> =>
    textOf((await client.call('repl_xref', { symbol, kind })) as never)
  expect(await xref('inner', 'callers')).toContain('OUTER')
  expect(await xref('outer', 'callees')).toContain('INNER')
  expect(await xref('*seen*', 'sets')).toContain('INNER')
  expect(await xref('outer', 'callers')).toBe('No functions that call it are known.')
  expect(await xref('no-such', 'callers')).toContain('Symbol not found')
})

describe('breakpoints', slowTest, () => {
  test('stop a call, which can be stepped and continued', async () => {
    const { call, client } = await openReader()
    await call('repl_eval', { code: '(declaim (optimize (debug 3)))' })
    await call('repl_compile', { code: '(defun add-twice (n) (let ((a (+ n 1))) (* (identity a) 2)))' })
    expect(textOf(await call('breakpoint_set', { function: 'add-twice' }))).toContain('stops in the debugger')
    expect(textOf((await client.call('breakpoint_list')) as never)).toBe('COMMON-LISP-USER::ADD-TWICE')
    const stopped = await call('repl_eval', { code: '(add-twice 4)' })
    expect(textOf(stopped)).toContain('Breakpoint: (ADD-TWICE 4)')
    const seen: string[] = []
    for (let step = 0; step < 40; step++) {
      const answer = await call('debugger_step', { how: 'into' })
      seen.push(textOf(answer))
      if (textOf(answer).startsWith('The evaluation ended')) break
    }
    expect(seen.at(-1)).toBe('The evaluation ended.\n=> 10')
    expect(seen.join('\n')).toContain('STEP-FORM-CONDITION')
    expect(textOf(await call('breakpoint_remove', { function: 'add-twice' }))).toContain('is removed')
    expect(textOf(await call('repl_eval', { code: '(add-twice 4)' }))).toBe('=> 10')
    expect(textOf((await client.call('breakpoint_list')) as never)).toBe('No breakpoint is set.')
    expect(textOf(await call('breakpoint_remove', { function: 'add-twice' }))).toContain('It has no breakpoint')
  })

  test('are refused in Lisp itself, and for what is not a function', async () => {
    const { call } = await openReader()
    expect(textOf(await call('breakpoint_set', { function: 'car' }))).toContain('belongs to Lisp itself')
    expect(textOf(await call('breakpoint_set', { function: 'when' }))).toContain('not a function')
    expect(textOf(await call('breakpoint_set', { function: 'swank:connection-info' }))).toContain('Lisp itself')
  })
})

describe('the thread is asked for before an approval is spent', slowTest, () => {
  test('with two threads in the debugger no ticket is made until one is named', async () => {
    const { call, client } = await openReader()
    await call('repl_eval', { code: '(restart-case (error "first") (give-up () :first))' })
    await call('repl_eval', { code: '(error "second")' })
    for (const [name, args] of [
      ['debugger_invoke_restart', { restart: 0 }],
      ['debugger_step', {}],
    ] as const) {
      const asked = (await client.call(name, { ...args })) as unknown as Answer
      expect(requestIn(asked)).toBeUndefined()
      expect(textOf(asked)).toContain('Name the thread')
    }
  })

  test('an approval survives a second thread that stopped in the meantime', async () => {
    const { call, client } = await openReader()
    await call('repl_eval', { code: '(restart-case (error "first") (give-up () :first))' })
    const asked = (await client.call('debugger_invoke_restart', { restart: 0 })) as unknown as Answer
    await client.request('approval/respond', { request_id: requestIn(asked) ?? '', approved: true })
    await call('repl_eval', { code: '(error "second")' })
    const which = textOf((await client.call('debugger_invoke_restart', { restart: 0 })) as never)
    expect(which).toContain('Name the thread')
    const thread = Number(/(\d+) \(second\)/.exec(which)?.[1])
    await call('repl_abort', { thread })
    expect(textOf((await client.call('debugger_invoke_restart', { restart: 0 })) as never)).toContain('=> :FIRST')
  })
})
