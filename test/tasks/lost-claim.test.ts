/** A process claims an approved task, and the store's answer is lost: the claim may have been written. */

import type { Store } from 'sluice'
import { settle } from 'sluice/testing'
import { expect, test } from 'vitest'
import { olga, openGatedTasks, taskTools } from '../kit/servers/tasks.fixture.ts'
import { inMemory } from './worlds.ts'

const isClaim = (text: string): boolean => text.includes('"process"')
const isUnclaim = (text: string): boolean => text.includes('"waits"') && !isClaim(text)

test('a claim whose answer was lost is given back, and the task runs once whatever looks come meanwhile', () =>
  inMemory(async (world) => {
    const { tools, runs, next } = taskTools()
    let isLost = false
    let released: PromiseWithResolvers<void> | undefined
    const store: Store = {
      ...world.store,
      async swap(key, from, to, ttlMs) {
        const isTask = key.includes('task') && from !== undefined
        if (isTask && isLost && !released && isUnclaim(to)) {
          released = Promise.withResolvers<void>()
          await released.promise
        }
        const isSwapped = await world.store.swap(key, from, to, ttlMs)
        if (!isTask || isLost || !isClaim(to)) return isSwapped
        isLost = true
        throw new Error('The answer was lost')
      },
    }
    const [one, other] = [openGatedTasks({ ...world, store, tools }), openGatedTasks({ ...world, tools })]
    const { taskId } = await one.call('gated')
    const [ticket] = (await one.approvals.list({ status: 'pending' })).tickets
    await one.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
    const work = next()

    expect(await one.get(taskId)).toHaveProperty('code')
    await settle()
    expect(released).toBeDefined()
    expect(await one.get(taskId)).toMatchObject({ status: 'working' })
    await settle()
    released?.resolve()
    await settle()
    expect(await other.get(taskId)).toMatchObject({ status: 'working' })
    await work.began
    work.end('done')
    await settle()
    expect(await one.get(taskId)).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } })
    expect(runs).toEqual(['gated'])
  }))
