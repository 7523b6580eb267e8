/**
 * Detects public keys for which anyone can sign. An issuer that publishes one is compromised, and accepting its tokens
 * would compromise this server too. jose itself refuses short keys.
 */

import type { Params } from '../../core/json.ts'

export function isWeakKey({ kty, n, e }: Params): boolean {
  if (kty !== 'RSA') return false
  return toNumber(e) < 3n || isRoca(toNumber(n))
}

const primes = [
  ...[3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107],
  ...[109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167],
].map(BigInt)

/**
 * CVE-2017-15361: keys made by a faulty chip, whose private half can be computed. Their modulus is a power of 65537
 * modulo every small prime, which happens to other keys once in 2^27 times.
 */
const isRoca = (modulus: bigint): boolean => primes.every((prime) => isPower(modulus % prime, prime))

function isPower(remainder: bigint, prime: bigint): boolean {
  let power = 1n
  do {
    if (power === remainder) return true
    power = (power * 65537n) % prime
  } while (power !== 1n)
  return false
}

/** Decodes a number. Returns zero, and therefore weak, if it cannot be read. */
function toNumber(text: unknown): bigint {
  if (typeof text !== 'string') return 0n
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return BigInt(`0x0${Array.from(binary, (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('')}`)
  } catch {
    return 0n
  }
}
