import { expect, test } from 'vitest'
import { createHubListeners } from './hub-listeners.ts'

test('a listener with URIs gets changes of these resources, and all changes of lists', () => {
  const listeners = createHubListeners()
  const received: string[] = []
  const listen = (name: string, uris?: readonly string[]): (() => void) =>
    listeners.add((event) => received.push(`${name} ${event.kind}`), uris && new Set(uris))
  listen('one', ['note:1'])
  listen('both', ['note:1', 'note:2'])
  listen('none', [])
  listen('every')
  listeners.deliver({ kind: 'resource', uri: 'note:1' }, '1')
  expect(received.splice(0)).toEqual(['one resource', 'both resource', 'every resource'])
  listeners.deliver({ kind: 'resource', uri: 'note:2' }, '2')
  expect(received.splice(0)).toEqual(['both resource', 'every resource'])
  listeners.deliver({ kind: 'tools' }, '3')
  expect(received.splice(0)).toEqual(['one tools', 'both tools', 'none tools', 'every tools'])
})

test('a removed listener gets nothing more', () => {
  const listeners = createHubListeners()
  const received: string[] = []
  const remove = listeners.add(() => received.push('gone'), new Set(['note:1']))
  remove()
  expect(listeners.size).toBe(0)
  listeners.add(() => received.push('here'), new Set(['note:1']))
  listeners.deliver({ kind: 'resource', uri: 'note:1' }, '1')
  expect(received).toEqual(['here'])
})
