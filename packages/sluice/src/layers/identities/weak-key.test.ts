import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { isWeakKey } from './weak-key.ts'

const jwkOf = ({ publicKey }: ReturnType<typeof generateKeyPairSync>) => publicKey.export({ format: 'jwk' })
const rsa = { ...jwkOf(generateKeyPairSync('rsa', { modulusLength: 2048 })) }

test('ordinary keys are not weak', () => {
  expect(isWeakKey(rsa)).toBe(false)
  expect(isWeakKey({ ...rsa, e: 'Aw' })).toBe(false)
  expect(isWeakKey({ ...jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })) })).toBe(false)
  expect(isWeakKey({ ...jwkOf(generateKeyPairSync('ed25519')) })).toBe(false)
})

test.each([['AQ'], ['AAAB'], ['AA'], [''], ['?'], [5], [undefined]])('an RSA key with the exponent %j is weak', (e) => {
  expect(isWeakKey({ ...rsa, e })).toBe(true)
})

test('a modulus that is a power of 65537 modulo every small prime is weak', () => {
  const hex = (65537n ** 128n).toString(16)
  const n = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex').toString('base64url')
  expect(isWeakKey({ ...rsa, n })).toBe(true)
})
