/** A gateway that dies leaves no process behind (metamcp#162). */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { type Child, killAll, startChild } from '../../kit/processes/child.ts'
import { hasGroup, isAlive, running } from './running.ts'

afterEach(killAll)

/** Starts a gateway with two upstream processes, each of which has started another one. */
async function startGateway(start: string): Promise<{ gateway: Child; mark: string; guards(): readonly number[] }> {
  const mark = randomUUID()
  const gateway = startChild('../../gateway/processes/gateway.fixture.ts', start, mark)
  await gateway.write('ada\nbob\n')
  expect(await gateway.line()).toMatch(/^\d+$/)
  expect(await gateway.line()).toMatch(/^\d+$/)
  const parent = gateway.process.pid
  return { gateway, mark, guards: () => running("trap '' HUP").filter((pid) => parentOf(pid) === parent) }
}

const parentOf = (pid: number): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
  } catch {
    return 0
  }
}
/** The upstreams. Each is the first process of a group, which has its number. */
const groupsOf = (mark: string): readonly number[] => running('upstream.fixture', mark)

test.each(['', 'stubborn'])('kill -9 of the gateway ends its processes and their children (%s)', async (start) => {
  const { gateway, mark, guards } = await startGateway(start)
  const groups = groupsOf(mark)
  const [guard = 0] = guards()
  expect(groups).toHaveLength(2)
  gateway.process.kill('SIGKILL')
  await gateway.exit
  await expect.poll(() => groups.filter(hasGroup), { timeout: 10_000 }).toEqual([])
  await expect.poll(() => isAlive(guard)).toBe(false)
})

test('kill -9 of the gateway while a process starts leaves none', async () => {
  const { gateway, mark } = await startGateway('')
  await gateway.write('cleo\ndan\neve\n')
  gateway.process.kill('SIGKILL')
  await gateway.exit
  await expect.poll(() => groupsOf(mark), { timeout: 10_000 }).toEqual([])
})

test('a guard that dies is replaced, and the new one knows the processes', async () => {
  const { gateway, mark, guards } = await startGateway('stubborn')
  const [first = 0] = guards()
  process.kill(first, 'SIGKILL')
  await expect.poll(() => guards().filter((pid) => pid !== first)).toHaveLength(1)
  const groups = groupsOf(mark)
  gateway.process.kill('SIGKILL')
  await gateway.exit
  await expect.poll(() => groups.filter(hasGroup), { timeout: 10_000 }).toEqual([])
})

test('the guard does not end with SIGTERM or SIGINT to everything', async () => {
  const { gateway, guards } = await startGateway('')
  const [guard = 0] = guards()
  process.kill(guard, 'SIGTERM')
  process.kill(guard, 'SIGINT')
  await gateway.write('cleo\n')
  expect(await gateway.line()).toMatch(/^\d+$/)
  expect(guards()).toEqual([guard])
})
