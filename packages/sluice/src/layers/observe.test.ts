import { expect, test } from 'vitest'
import { Prepared } from '../core/answer.ts'
import { RpcError } from '../core/error.ts'
import type { Logger, LogLine } from '../core/log.ts'
import { aCall } from '../testing/call.ts'
import { fakeClock } from '../testing/clock.ts'
import { observe } from './observe.ts'

type Line = LogLine & { level: string }

function watch(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = []
  const at = (level: string) => (line: LogLine) => void lines.push({ level, ...line })
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } }
}
const observed = (logger: Logger, clock = fakeClock()) => observe(logger, clock, () => 'ref-1')

test('a call leaves one line with what it was and how it ended', async () => {
  const { lines, logger } = watch()
  const clock = fakeClock(1000)
  const serve = observed(
    logger,
    clock,
  )(async () => {
    await clock.advance(12)
    return { content: [] }
  })
  await serve(aCall({ id: 'a' }))
  expect(lines).toEqual([
    {
      level: 'info',
      event: 'request',
      id: 'a',
      method: 'tools/call',
      tool: 'a-tool',
      target: undefined,
      revision: '2026-07-28',
      transport: 'memory',
      durationMs: 12,
      outcome: 'complete',
    },
  ])
})

test.each([
  [{ isError: true, content: [] }, 'toolError'],
  [{ resultType: 'input_required' as const }, 'input_required'],
  [new Prepared('{}'), 'complete'],
])('the outcome of %o is %s', async (answer, outcome) => {
  const { lines, logger } = watch()
  await observed(logger)(async () => answer)(aCall())
  expect(lines[0]?.['outcome']).toBe(outcome)
})

test('a refusal is a warning with the reference the client gets', async () => {
  const { lines, logger } = watch()
  const call = aCall()
  const serve = observed(logger)(() => Promise.reject(new RpcError('rateLimited', 'Too many calls')))
  await expect(serve(call)).rejects.toMatchObject({ reason: 'rateLimited' })
  expect(lines[0]).toMatchObject({
    level: 'warn',
    outcome: 'rateLimited',
    reference: 'ref-1',
    message: 'Too many calls',
  })
  expect(call.facts.reference).toBe('ref-1')
})

test('a bug is an error with its type, message and stack', async () => {
  const { lines, logger } = watch()
  const serve = observed(logger)(() => Promise.reject(new TypeError('x is not a function')))
  await expect(serve(aCall())).rejects.toThrow()
  expect(lines[0]).toMatchObject({ level: 'error', errorType: 'TypeError', errorMessage: 'x is not a function' })
  expect(String(lines[0]?.['stack'])).toContain('observe.test')
})

test('a tool that crashed shows what it threw', async () => {
  const { lines, logger } = watch()
  const crash = new RpcError('toolCrashed', 'Tool execution failed', { cause: 'not even an error' })
  await expect(observed(logger)(() => Promise.reject(crash))(aCall())).rejects.toThrow()
  expect(lines[0]).toMatchObject({ level: 'error', errorType: 'string' })
})

test.each(['invalidArguments', 'toolFailed'] as const)(
  'what the caller sent is not repeated for %s',
  async (reason) => {
    const { lines, logger } = watch()
    const serve = observed(logger)(() => Promise.reject(new RpcError(reason, 'must not be "hunter2"')))
    await expect(serve(aCall({ args: { password: 'hunter2' } }))).rejects.toThrow()
    expect(JSON.stringify(lines)).not.toContain('hunter2')
  },
)
