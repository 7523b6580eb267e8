/**
 * kill −9 in a task's life. The long form, every point 50 times on SQLite, Redis and PostgreSQL, is `npm run soak --
 * task-kills`.
 */

import { expect, test } from 'vitest'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import { bundleTaskLife, killTasksAt, takeOverTasks, taskPointsOf } from './kills.ts'

test('killed at each step of a task’s life: never two effects, nothing acknowledged lost', {
  timeout: 240_000,
}, async () => {
  const folder = temporaryFolder()
  const place = { program: await bundleTaskLife(folder), store: 'sqlite', folder }
  const [asking, gated] = [await taskPointsOf(place, 'asking'), await taskPointsOf(place, 'gated')]
  const ofAsking = [
    ...['before swap task run', 'after swap task run', 'after swap task asked run', 'after swap task answered run'],
    ...['before effect', 'after effect', 'before swap task outcome run', 'after swap task outcome run'],
  ]
  const ofGated = [
    ...['after swap task', 'after swap approvals state approved', 'before swap task run', 'after swap task run'],
    ...['after swap once started', 'after swap approvals state running', 'before effect', 'after effect'],
    ...['after swap once done', 'after swap task outcome run'],
  ]
  expect(asking).toEqual(expect.arrayContaining(ofAsking))
  expect(gated).toEqual(expect.arrayContaining(ofGated))
  const lives = [
    ...(await killTasksAt(place, 'asking', ofAsking, 0)),
    ...(await killTasksAt(place, 'gated', ofGated, 100)),
  ]
  for (const [index, kind] of (['parked', 'parked under a key', 'parked after an approval'] as const).entries()) {
    const points = await taskPointsOf(place, kind)
    expect(points).toEqual(
      expect.arrayContaining(['before swap parked asked run', 'before effect', 'after swap parked outcome run']),
    )
    lives.push(...(await killTasksAt(place, kind, points, 10_000 * (index + 1))))
  }
  const { lost, ends } = await takeOverTasks(place, lives)
  expect(lost).toEqual([])
  expect(ends['completed']).toBeGreaterThan(0)
  expect(ends['in doubt']).toBeGreaterThan(0)
})
