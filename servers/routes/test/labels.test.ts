import { expect, test } from 'vitest'
import type { MapPoint } from '../src/atlas/labels.ts'
import { placeLabels } from '../src/atlas/labels.ts'

const size = { width: 640, height: 640 }
const place = (at: MapPoint, line: readonly MapPoint[]) => placeLabels([{ at, text: 'Hà Nội' }], [line], size).labels[0]

test('a label is to the right of its place, except if the line is there', () => {
  const at = [300, 300] as const
  expect(place(at, [])).toMatchObject({ anchor: 'start' })
  expect(place(at, [at, [500, 300]])).toMatchObject({ anchor: 'end' })
  const across: readonly MapPoint[] = [[100, 300], at, [500, 300]]
  const above = place(at, across)
  expect(above).toMatchObject({ anchor: 'middle' })
  expect(above?.y).toBeLessThan(290)
})

test('a label stays within the map, and off the scale below it', () => {
  expect(place([630, 300], [])).toMatchObject({ anchor: 'end' })
  expect(
    place(
      [300, 10],
      [
        [300, 10],
        [500, 10],
      ],
    )?.y,
  ).toBeGreaterThan(10)
  expect(place([300, 600], [])?.y).toBeLessThan(610)
})

test('the labels of two neighbouring places do not overlap', () => {
  const points = [
    { at: [300, 300] as const, text: 'Huế' },
    { at: [312, 304] as const, text: 'Đà Nẵng' },
  ]
  const [first, second] = placeLabels(points, [], size).labels
  expect(first).toMatchObject({ anchor: 'end' })
  expect(second).toMatchObject({ anchor: 'start' })
})

test('a line of very many points is rasterized once', () => {
  const line = Array.from({ length: 300_000 }, (_, n): MapPoint => [300 + (n % 300) / 1000, 300 + n / 1000])
  const places = Array.from({ length: 150 }, (_, n) => ({ at: [300, 300 + 2 * n] as const, text: `Stop ${n}` }))
  expect(placeLabels(places, [line], size).labels).toHaveLength(150)
})

test('a town is named only if its name covers nothing', () => {
  const named = [{ at: [300, 300] as const, text: 'Hanoi' }]
  const towns = [
    { at: [310, 302] as const, text: 'Too near' },
    { at: [100, 100] as const, text: 'Free' },
    { at: [104, 101] as const, text: 'On the free one' },
  ]
  const { optional } = placeLabels(named, [], size, towns)
  expect(optional.map((label) => label !== undefined)).toEqual([false, true, false])
})
