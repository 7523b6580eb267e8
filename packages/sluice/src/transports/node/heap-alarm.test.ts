import { expect, test } from 'vitest'
import { createHeapAlarm } from './heap-alarm.ts'

const run = (samples: readonly number[]): boolean[] => {
  const alarm = createHeapAlarm()
  return samples.map((used) => {
    alarm.sample(used)
    return alarm.on
  })
}

test('one sample of a full heap is enough', () => {
  expect(run([0.89, 0.9])).toEqual([false, true])
})

test('the alarm ends after three calm samples in a row', () => {
  expect(run([0.95, 0.3, 0.3, 0.3, 0.3])).toEqual([true, true, true, false, false])
  expect(run([0.95, 0.3, 0.3, 0.87, 0.3, 0.3, 0.3])).toEqual([true, true, true, true, true, true, false])
})

test('samples that swing around the threshold do not switch the alarm each time', () => {
  expect(run(Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? 0.91 : 0.87)))).not.toContain(false)
})
