import { expect, test } from 'vitest'
import { fakeClock } from '../testing/clock.ts'
import { createSeal } from './seal.ts'

const bound = ['tenant', 'ann', 'tools/call', 'deploy', 'hash', 'digest']
const make = (secrets: readonly string[] = ['a secret of some length'], purpose = 'state') => {
  const clock = fakeClock()
  return { clock, seal: createSeal(() => secrets, purpose, clock) }
}

test('a sealed value opens for the same binding, and reveals nothing on the way', async () => {
  const { seal } = make()
  const text = await seal.seal({ given: { where: 'Prague' } }, bound, 1000)
  expect(text).not.toContain('Prague')
  expect(await seal.open(text, bound)).toEqual({ given: { where: 'Prague' } })
})

test('every change of a single character is refused', async () => {
  const { seal } = make()
  const text = await seal.seal({ n: 1 }, bound, 1000)
  for (let i = 0; i < text.length; i++) {
    const changed = text.slice(0, i) + (text[i] === 'A' ? 'B' : 'A') + text.slice(i + 1)
    await expect(seal.open(changed, bound), `character ${i}`).rejects.toMatchObject({ reason: 'invalidParams' })
  }
})

test.each(bound.map((_, i) => i))('state bound to another value at index %i does not open', async (place) => {
  const { seal } = make()
  const text = await seal.seal('x', bound, 1000)
  const other = bound.map((part, i) => (i === place ? `${part}!` : part))
  await expect(seal.open(text, other)).rejects.toMatchObject({ reason: 'invalidParams' })
})

test('elements of a binding are not joined', async () => {
  const { seal } = make()
  const text = await seal.seal('x', ['ab', 'c'], 1000)
  await expect(seal.open(text, ['a', 'bc'])).rejects.toThrow()
})

test('state expires', async () => {
  const { seal, clock } = make()
  const text = await seal.seal('x', bound, 1000)
  await clock.advance(999)
  expect(await seal.open(text, bound)).toBe('x')
  await clock.advance(1)
  await expect(seal.open(text, bound)).rejects.toMatchObject({ reason: 'invalidParams' })
})

test('while secrets rotate the old one still opens, and a removed one does not', async () => {
  const old = await make(['the old secret here']).seal.seal('x', bound, 1000)
  expect(await make(['the new secret here', 'the old secret here']).seal.open(old, bound)).toBe('x')
  await expect(make(['the new secret here']).seal.open(old, bound)).rejects.toThrow()
})

test('a key of one purpose opens no state of another', async () => {
  const text = await make().seal.seal('x', bound, 1000)
  await expect(make(undefined, 'cursors').seal.open(text, bound)).rejects.toThrow()
})

test('a server opens no state of another server with the same secret', async () => {
  const text = await make(undefined, 'state weather').seal.seal('x', bound, 1000)
  await expect(make(undefined, 'state routes').seal.open(text, bound)).rejects.toMatchObject({
    reason: 'invalidParams',
  })
})

test('the same value sealed twice does not look the same', async () => {
  const { seal } = make()
  expect(await seal.seal('x', bound, 1000)).not.toBe(await seal.seal('x', bound, 1000))
})

test('a missing secret fails on use without being sent to the client, and may be set later', async () => {
  let secrets: readonly string[] | undefined
  const seal = createSeal(
    () => {
      if (!secrets) throw new TypeError('no secret yet')
      return secrets
    },
    'state',
    fakeClock(),
  )
  await expect(seal.seal('x', bound, 1000)).rejects.toThrow('no secret yet')
  secrets = ['a secret of some length']
  expect(await seal.open(await seal.seal('x', bound, 1000), bound)).toBe('x')
})

test.each(['', '.', 'a.b', 'nonsense', `${'A'.repeat(16)}.`, `${'A'.repeat(16)}.${'é'.repeat(20)}`])(
  'nonsense %j is refused',
  async (text) => {
    await expect(make().seal.open(text, bound)).rejects.toMatchObject({ reason: 'invalidParams' })
  },
)

test('without a secret nothing is sealed', async () => {
  await expect(make([]).seal.seal('x', bound, 1)).rejects.toThrow('No secret')
})
