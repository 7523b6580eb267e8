/** Takes `good-ann` for ann, and `good-ann-5000` for ann until then, in milliseconds. */

import type { Verifier } from 'sluice'

export const verifier: Verifier = {
  async verify(token) {
    const [good, subject = '', expires = 'Infinity'] = token.split('-')
    if (good !== 'good') return undefined
    return { subject, credential: 'test', scopes: new Set(), claims: {}, expires: Number(expires) }
  },
}
