/** The contract of every bus, as tests: `busContract`. */

import { describe, expect } from 'vitest'
import type { Bus } from '../core/bus.ts'
import { contractTest, eventually, range } from './contract-kit.ts'

/** A bus opened for one test. */
export interface OpenedBus {
  readonly bus: Bus
  /** Opens the same bus as another process would. */
  openAnother?(): Promise<Bus>
  close(): Promise<void>
}

/** Defines the tests of the bus contract. Call it in a test file of your own bus. */
export function busContract(name: string, open: () => OpenedBus | Promise<OpenedBus>): void {
  const promise = contractTest(open)
  const receivedBy = (bus: Bus, channel: string): { readonly received: string[]; unsubscribe(): void } => {
    const received: string[] = []
    return { received, unsubscribe: bus.subscribe(channel, (message) => received.push(message)) }
  }
  const until = (holds: () => boolean, description: string): Promise<void> =>
    eventually(async () => holds(), description)

  describe(`${name} keeps the contract of a bus`, () => {
    promise('a process receives the messages it publishes after subscribing, in order', async ({ bus }) => {
      const { received } = receivedBy(bus, 'a')
      for (const i of range(20)) await bus.publish('a', String(i))
      await until(() => received.length === 20, 'all twenty are received')
      expect(received).toEqual(range(20).map(String))
    })

    promise('other processes receive it too', async ({ bus, openAnother }) => {
      if (!openAnother) return
      const other = await openAnother()
      const { received } = receivedBy(other, 'a')
      // A subscription takes a moment to reach the others. From then on no message is missed.
      await eventually(async () => {
        await bus.publish('a', 'hello')
        return received.length > 0
      }, 'the other receives a message')
      await bus.publish('a', 'last')
      await until(() => received.at(-1) === 'last', 'the other receives the last message')
    })

    promise('channels are separate, whatever their names', async ({ bus }) => {
      const names = ['', 'a', 'a:b', 'a*', '*', '?', '[a]', 'a\0b', 'a b', 'é', '\u{1f600}']
      const received = names.map((channel) => receivedBy(bus, channel).received)
      for (const channel of names) await bus.publish(channel, `to ${channel}`)
      await until(() => received.every(({ length }) => length > 0), 'each channel receives its message')
      expect(received).toEqual(names.map((channel) => [`to ${channel}`]))
    })

    promise('a listener that unsubscribed receives no more, and the others still do', async ({ bus }) => {
      const [first, second] = [receivedBy(bus, 'a'), receivedBy(bus, 'a')]
      await bus.publish('a', '1')
      await until(() => second.received.length === 1, 'both receive it')
      first.unsubscribe()
      first.unsubscribe()
      const third = receivedBy(bus, 'a')
      await bus.publish('a', '2')
      await until(() => second.received.length === 2 && third.received.length === 1, 'the others receive it')
      for (const { unsubscribe } of [second, third]) unsubscribe()
      const fourth = receivedBy(bus, 'a')
      second.unsubscribe()
      await bus.publish('a', '3')
      await until(() => fourth.received.length === 1, 'a late listener receives it')
      expect([first.received, second.received, third.received]).toEqual([['1'], ['1', '2'], ['2']])
    })

    promise('a listener that throws affects neither the other listeners nor the publisher', async ({ bus }) => {
      bus.subscribe('a', () => {
        throw new Error('from a listener')
      })
      const { received } = receivedBy(bus, 'a')
      await bus.publish('a', '1')
      await until(() => received.length === 1, 'the other receives it')
      await bus.publish('a', '2')
      await until(() => received.length === 2, 'the other receives the second message')
    })

    promise('large and strange messages arrive as they were sent', async ({ bus }) => {
      const { received } = receivedBy(bus, 'a')
      const messages = ['', '\0\r\n"', 'x'.repeat(2 ** 20)]
      for (const message of messages) await bus.publish('a', message)
      await until(() => received.length === 3, 'all three are received')
      expect(received.every((message, i) => message === messages[i])).toBe(true)
    })
  })
}
