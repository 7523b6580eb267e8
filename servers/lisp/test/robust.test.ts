/** Values, threads and input that once lost an image or left it waiting, with a real SBCL. */

import { beforeAll, describe, expect, test } from 'vitest'
import { openLisp, textOf, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)
const slowTest = { timeout: 120_000 }

describe('a text of more than 16 MiB is shortened, and the image stays', slowTest, () => {
  test('output, values, variables and descriptions', async () => {
    const { call, client } = await openLisp()
    const read = async (name: string, args: object): Promise<string> =>
      textOf((await client.call(name, { ...args })) as never)
    const large = await call('repl_eval', {
      code: '(progn (write-string (make-string 20000000 :initial-element #\\a)) (make-string 20000000 :initial-element #\\b))',
    })
    const { output, values } = large.structuredContent as { output: string; values: readonly string[] }
    expect(output).toBe(`${'a'.repeat(49_900)}… (19950100 characters more)`)
    expect(values).toEqual([`"${'b'.repeat(49_899)}… (19950102 characters more)`])
    await call('repl_eval', {
      code: '(defvar *text* (make-string 20000000 :initial-element #\\a)) (defvar *texts* (loop repeat 1000 collect (subseq *text* 0 19000)))',
    })
    expect(await read('repl_describe', { symbol: '*text*' })).toContain('characters more)')
    expect(await read('repl_read', { expression: '*texts*' })).toContain('characters more)')
    expect(await read('repl_read', { expression: '(list-length *texts*)' })).toBe('=> 1000')
    await call('repl_eval', {
      code: '(defun stop (text) (declare (optimize (debug 3))) (error "stopped ~a" (length text)))',
    })
    await call('repl_eval', { code: '(stop *text*)' })
    for (const args of [{ count: 200 }, { frame: 1 }]) await read('debugger_frames', args)
    expect(await read('repl_status', {})).toContain('stopped 20000000')
  })

  test('more values than fifty are counted', async () => {
    const { call } = await openLisp()
    const { structuredContent } = await call('repl_eval', { code: '(values-list (loop for i below 1000 collect i))' })
    const { values } = structuredContent as { values: readonly string[] }
    expect(values).toHaveLength(51)
    expect(values.slice(-2)).toEqual(['49', '… (950 values more)'])
  })
})

test('a circular value is cut, and the image stays', slowTest, async () => {
  const { call, client } = await openLisp()
  const code = '(defvar *one* (list 1)) (setf (cdr *one*) *one*) (defvar *two* (list 1)) (setf (car *two*) *two*)'
  await call('repl_eval', { code })
  expect(textOf(await call('repl_eval', { code: '*one*' }))).toMatch(/^=> \(1 1 1.*characters more\)$/s)
  expect(textOf(await call('repl_eval', { code: '*two*' }))).toContain('((((#))))')
  expect(textOf((await client.call('repl_describe', { symbol: '*one*' })) as never)).toContain('*ONE*')
  expect(textOf((await client.call('repl_read', { expression: '(car *one*)' })) as never)).toBe('=> 1')
})

test('code that asks for input gets the end of it at once', slowTest, async () => {
  const { call } = await openLisp()
  for (const code of ['(read-line)', '(read-char *query-io*)', '(y-or-n-p "Sure?")'])
    expect(textOf(await call('repl_eval', { code })), code).toContain('[END-OF-FILE]')
})

test('a thread of the program that stopped continues with a restart', slowTest, async () => {
  const { call, client } = await openLisp()
  const code =
    '(defvar *went* nil) (sb-thread:make-thread (lambda () (restart-case (error "in the background") (go-on () (setf *went* t)))))'
  await call('repl_eval', { code })
  const read = async (name: string, args: object = {}): Promise<string> =>
    textOf((await client.call(name, { ...args })) as never)
  await expect.poll(() => read('repl_status')).toContain('in the background')
  expect(textOf(await call('debugger_invoke_restart', { restart: 0 }))).toBe(
    'Continued with GO-ON: GO-ON\nIt is a thread of the program; repl_status shows whether it stops again.',
  )
  await expect.poll(() => read('repl_read', { expression: '*went*' })).toBe('=> T')
})

test('an image that lost its connection ends, so that no process stays behind', slowTest, async () => {
  const { call } = await openLisp()
  const pid = Number((await call('repl_eval', { code: '(sb-unix:unix-getpid)' })).structuredContent?.['values'])
  expect(process.kill(pid, 0)).toBe(true)
  const lost = await call('repl_eval', {
    // Swank closes the connection for what it cannot send; the process itself goes on.
    code: '(swank::send-to-emacs (list :write-string (make-string 20000000 :initial-element #\\a)))',
  })
  expect(textOf(lost)).toContain('The Lisp image was lost')
  const isRunning = (): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await expect.poll(isRunning, { timeout: 30_000 }).toBe(false)
})

test('a frame that does not exist is refused, and the thread stays where it stopped', slowTest, async () => {
  const { call, client } = await openLisp()
  await call('repl_eval', { code: '(error "stopped here")' })
  const before = textOf((await client.call('debugger_restarts')) as never)
  const refused = textOf((await client.call('debugger_frames', { frame: 100_000 })) as never)
  expect(refused).toBe('Frame 100000 cannot be shown. debugger_frames without a frame lists the frames.')
  expect(textOf((await client.call('debugger_restarts')) as never)).toBe(before)
})
