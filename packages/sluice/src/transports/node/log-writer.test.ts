import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createLogWriter, openLog } from './log-writer.ts'

/** A descriptor that accepts `room` bytes, then fails with this error until there is room again. */
function aPipe(
  room: number,
  code: string,
): { text(): string; makeRoom(bytes: number): void; write: typeof import('node:fs').writeSync } {
  let taken = ''
  const write = (_: number, bytes: Buffer): number => {
    if (room === 0) throw Object.assign(new Error(code), { code })
    const part = bytes.subarray(0, room)
    room -= part.length
    taken += part.toString()
    return part.length
  }
  return {
    text: () => taken,
    makeRoom(bytes) {
      room += bytes
    },
    write: write as typeof import('node:fs').writeSync,
  }
}
const line = (n: number): string => `{"n":${n}}\n`

test('lines for a full pipe wait until it is read, and are written whole and in order', () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const pipe = aPipe(10, 'EAGAIN')
  const writer = createLogWriter(1, pipe.write)
  for (let n = 1; n <= 4; n++) writer.write(line(n))
  expect(pipe.text()).toBe('{"n":1}\n{"')
  pipe.makeRoom(1000)
  vi.advanceTimersByTime(1000)
  expect(pipe.text()).toBe([1, 2, 3, 4].map(line).join(''))
})

test('lines that wait for a full pipe are tried again when the process exits', () => {
  const program = `
    import { writeSync } from 'node:fs'
    import { createLogWriter } from ${JSON.stringify(new URL('./log-writer.ts', import.meta.url).href)}
    let isFull = true
    const writer = createLogWriter(1, (fd, bytes) => {
      if (isFull) throw Object.assign(new Error('full'), { code: 'EAGAIN' })
      return writeSync(fd, bytes)
    })
    writer.write('waiting\\n')
    isFull = false
    process.exit()`
  expect(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })).toBe(
    'waiting\n',
  )
})

test('an unread pipe costs lines, which are counted, and at most a megabyte', () => {
  const pipe = aPipe(0, 'EAGAIN')
  const writer = createLogWriter(1, pipe.write)
  const long = `${'x'.repeat(1023)}\n`
  for (let n = 0; n < 5000; n++) writer.write(long)
  pipe.makeRoom(Number.MAX_SAFE_INTEGER)
  writer.flush()
  const lines = pipe.text().trimEnd().split('\n')
  expect(lines).toHaveLength(1025)
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'logLinesLost', lines: 5000 - 1024 })
})

test('a full disk costs lines, the line that was begun is ended, and the number of lost lines is logged', () => {
  const disk = aPipe(12, 'ENOSPC')
  const writer = createLogWriter(1, disk.write)
  for (let n = 1; n <= 5; n++) writer.write(line(n))
  disk.makeRoom(1000)
  writer.write(line(6))
  const lines = disk.text().trimEnd().split('\n')
  expect(lines.slice(0, 3)).toEqual(['{"n":1}', '{"n":2}', '{"n":6}'])
  expect(JSON.parse(lines[3] ?? '')).toMatchObject({ event: 'logLinesLost', lines: 3 })
})

test('a file that is a FIFO without a reader is refused at once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const fifo = join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  expect(() => openLog(fifo)).toThrow('ENXIO')
})

test('a program with unread stderr continues, and exits', async () => {
  const module = new URL('./json-logger.ts', import.meta.url).href
  const program = `const { stderrLogger } = await import(${JSON.stringify(module)})
    const logger = stderrLogger()
    for (let n = 0; n < 20_000; n++) logger.info({ event: 'x', n })
    console.log('done')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const code = await new Promise((resolve) => {
    child.stdout.resume()
    child.once('exit', resolve)
  })
  expect(code).toBe(0)
})
