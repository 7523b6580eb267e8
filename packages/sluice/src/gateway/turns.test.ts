import { expect, test } from 'vitest'
import type { Client } from '../client/types.ts'
import { RpcError } from '../core/error.ts'
import { createStop } from '../core/stop.ts'
import { takeTurn } from './turns.ts'

const connection = (): Client => ({}) as Client
const open = createStop()

test('calls share a connection without waiting', () => {
  const client = connection()
  for (const end of [takeTurn(client, false, open), takeTurn(client, false, open)]) expect(end).toBeTypeOf('function')
})

test('a call that must be alone waits for the others, and the later ones wait for it', async () => {
  const client = connection()
  const order: string[] = []
  const first = await takeTurn(client, false, open)
  const alone = Promise.resolve(takeTurn(client, true, open)).then((end) => {
    order.push('alone')
    return end
  })
  const later = Promise.resolve(takeTurn(client, false, open)).then(() => order.push('later'))
  await Promise.resolve()
  expect(order).toEqual([])
  first()
  const end = await alone
  expect(order).toEqual(['alone'])
  end()
  await later
  expect(order).toEqual(['alone', 'later'])
})

test('a call that is stopped while it waits gives way to the next', async () => {
  const client = connection()
  const stop = createStop()
  const first = await takeTurn(client, false, open)
  const stopped = Promise.resolve(takeTurn(client, true, stop))
  const later = Promise.resolve(takeTurn(client, false, open))
  stop.stop(new RpcError('cancelled', 'Cancelled'))
  await expect(stopped).rejects.toMatchObject({ reason: 'cancelled' })
  expect(await later).toBeTypeOf('function')
  first()
})
