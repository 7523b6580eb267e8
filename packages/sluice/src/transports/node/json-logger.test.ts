import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileLogger } from './json-logger.ts'

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-logger-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('a program may make any number of loggers: they share one listener for the end of the process', () => {
  const before = process.listenerCount('exit')
  const folder = aFolder()
  for (let n = 0; n < 20; n++) {
    const logger = fileLogger(join(folder, `${n}.log`))
    logger.info({ event: 'made' })
    logger.flush()
    logger.info({ event: 'waiting' })
  }
  expect(process.listenerCount('exit') - before).toBeLessThanOrEqual(1)
})

test('the waiting lines of all loggers are written when the process exits', () => {
  const folder = aFolder()
  const files = ['one.log', 'two.log', 'three.log'].map((name) => join(folder, name))
  const program = `
    import { fileLogger } from ${JSON.stringify(new URL('./json-logger.ts', import.meta.url).href)}
    const [one, two, three] = ${JSON.stringify(files)}.map((file) => fileLogger(file))
    one.info({ event: 'first' })
    one.flush()
    one.info({ event: 'last' })
    two.info({ event: 'last' })
    three.info({ event: 'last' })
    three.flush()
    process.exit()`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const events = files.map((file) => readFileSync(file, 'utf8').match(/(?<="event":")\w+/g))
  expect(events).toEqual([['first', 'last'], ['last'], ['last']])
})
