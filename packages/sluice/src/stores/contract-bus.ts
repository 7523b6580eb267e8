/** What every bus promises, as tests: `busContract`. */

import { describe, expect } from 'vitest'
import type { Bus } from '../core/bus.ts'
import { contractTest, eventually, range } from './contract-kit.ts'

/** A bus nobody else uses. */
export interface OpenedBus {
  readonly bus: Bus
  /** As another process would have it. */
  openAnother?(): Promise<Bus>
  close(): Promise<void>
}

/** The promises of a bus as tests: call it in a test file of your own bus. */
export function busContract(name: string, open: () => OpenedBus | Promise<OpenedBus>): void {
  const promise = contractTest(open)
  const heardBy = (bus: Bus, channel: string): { readonly heard: string[]; end(): void } => {
    const heard: string[] = []
    return { heard, end: bus.subscribe(channel, (message) => heard.push(message)) }
  }
  const until = (holds: () => boolean, what: string): Promise<void> => eventually(async () => holds(), what)

  describe(`${name} keeps the contract of a bus`, () => {
    promise('what a process publishes after subscribing it hears, in order', async ({ bus }) => {
      const { heard } = heardBy(bus, 'a')
      for (const i of range(20)) await bus.publish('a', String(i))
      await until(() => heard.length === 20, 'all twenty are heard')
      expect(heard).toEqual(range(20).map(String))
    })

    promise('others hear it too', async ({ bus, openAnother }) => {
      if (!openAnother) return
      const other = await openAnother()
      const { heard } = heardBy(other, 'a')
      // A subscription takes a moment to reach the others; from then on nothing is missed.
      await eventually(async () => {
        await bus.publish('a', 'hello')
        return heard.length > 0
      }, 'the other hears')
      await bus.publish('a', 'last')
      await until(() => heard.at(-1) === 'last', 'the other hears the last')
    })

    promise('channels are apart, whatever their names', async ({ bus }) => {
      const names = ['', 'a', 'a:b', 'a*', '*', '?', '[a]', 'a\0b', 'a b', 'é', '\u{1f600}']
      const heard = names.map((channel) => heardBy(bus, channel).heard)
      for (const channel of names) await bus.publish(channel, `to ${channel}`)
      await until(() => heard.every(({ length }) => length > 0), 'each hears')
      expect(heard).toEqual(names.map((channel) => [`to ${channel}`]))
    })

    promise('who unsubscribed hears no more, and takes nobody along', async ({ bus }) => {
      const [first, second] = [heardBy(bus, 'a'), heardBy(bus, 'a')]
      await bus.publish('a', '1')
      await until(() => second.heard.length === 1, 'both hear')
      first.end()
      first.end()
      const third = heardBy(bus, 'a')
      await bus.publish('a', '2')
      await until(() => second.heard.length === 2 && third.heard.length === 1, 'the others hear')
      for (const { end } of [second, third]) end()
      const fourth = heardBy(bus, 'a')
      second.end()
      await bus.publish('a', '3')
      await until(() => fourth.heard.length === 1, 'a late one hears')
      expect([first.heard, second.heard, third.heard]).toEqual([['1'], ['1', '2'], ['2']])
    })

    promise('one that throws keeps nobody from hearing, nor from publishing', async ({ bus }) => {
      bus.subscribe('a', () => {
        throw new Error('of one hearer')
      })
      const { heard } = heardBy(bus, 'a')
      await bus.publish('a', '1')
      await until(() => heard.length === 1, 'the other hears')
      await bus.publish('a', '2')
      await until(() => heard.length === 2, 'again')
    })

    promise('large and strange messages arrive as they were sent', async ({ bus }) => {
      const { heard } = heardBy(bus, 'a')
      const messages = ['', '\0\r\n"', 'x'.repeat(2 ** 20)]
      for (const message of messages) await bus.publish('a', message)
      await until(() => heard.length === 3, 'all three are heard')
      expect(heard.every((message, i) => message === messages[i])).toBe(true)
    })
  })
}
