import { Writable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createLineWriter } from './line-writer.ts'

/** A reader that reads when it is told to. */
function slow(): { output: Writable; read(): void; written: string[] } {
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
const watch = () => ({ stalled: vi.fn(), drained: vi.fn() })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('lines of one turn leave in one write', async () => {
  const { output, written } = slow()
  const out = createLineWriter(output, (text) => output.write(text), watch())
  out.write('a')
  out.write('b')
  expect(written).toEqual([])
  await turn()
  expect(written).toEqual(['a\nb\n'])
})

test('much is written without waiting for the turn to end', () => {
  const { output, written } = slow()
  const out = createLineWriter(output, (text) => output.write(text), watch())
  out.write('x'.repeat(64 * 1024))
  expect(written).toHaveLength(1)
})

test('a reader that does not keep up is told of once, and again when it has caught up', async () => {
  const { output, read } = slow()
  const events = watch()
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
