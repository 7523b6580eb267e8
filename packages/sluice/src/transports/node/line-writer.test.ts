import { Writable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createLineWriter } from './line-writer.ts'

/** A stream whose reader reads only when the test calls `read`. */
function slowStream(): { output: Writable; read(): void; written: string[] } {
  const written: string[] = []
  let next: (() => void) | undefined
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      written.push(chunk.toString())
      next = done
    },
  })
  return { output, written, read: () => next?.() }
}
const createEvents = () => ({ stalled: vi.fn(), drained: vi.fn() })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('lines of one turn are written together', async () => {
  const { output, written } = slowStream()
  const out = createLineWriter(output, (text) => output.write(text), createEvents())
  out.write('a')
  out.write('b')
  expect(written).toEqual([])
  await turn()
  expect(written).toEqual(['a\nb\n'])
})

test('a long text is written before the turn ends', () => {
  const { output, written } = slowStream()
  const out = createLineWriter(output, (text) => output.write(text), createEvents())
  out.write('x'.repeat(64 * 1024))
  expect(written).toHaveLength(1)
})

test('"stalled" is called once when the reader does not keep up, and "drained" once when it has caught up', async () => {
  const { output, read } = slowStream()
  const events = createEvents()
  const out = createLineWriter(output, (text) => output.write(text), events)
  for (let i = 0; i < 3; i++) {
    out.write('x'.repeat(32 * 1024))
    out.flush()
  }
  expect(events.stalled).toHaveBeenCalledTimes(1)
  for (let i = 0; i < 3; i++) {
    read()
    await turn()
  }
  expect(events.drained).toHaveBeenCalledTimes(1)
})
