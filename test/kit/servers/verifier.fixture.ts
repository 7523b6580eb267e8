/** Accepts `good-ann` as ann, and `good-ann-5000` as ann until that time in milliseconds. */

import type { Verifier } from 'sluice'

export const verifier: Verifier = {
  async verify(token) {
    const [good, subject = '', expires = 'Infinity'] = token.split('-')
    if (good !== 'good') return undefined
    return { subject, credential: 'test', scopes: new Set(), claims: {}, expires: Number(expires) }
  },
}
